import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import { FREE_BYTES_MIN } from "../../chain/store/write-guard.ts";
import { openClockStopFile, PLAUSIBLE_MS_MAX } from "../../consensus/clock-watch.ts";
import { engineRpcSocket } from "../../consensus/cometbft/home/home.ts";
import { findProgram } from "../../consensus/cometbft/process/engine-process.ts";
import type { Config } from "../../node/config/config.ts";
import { dangersOf } from "../../node/config/dangers.ts";
import {
  clockStopPath,
  cometbftPath,
  dataPath,
  devGenesisPath,
  genesisPath,
  jwtSecretPath,
  keystorePath,
  nodeKeyPath,
  walletsPath,
  whisperIdentitiesPath,
} from "../../node/config/home.ts";
import { remoteSignerOf } from "../../node/config/remote-signer.ts";
import { formatHostPort, type HostPort } from "../../node/config/value-types.ts";
import { OPENTELEMETRY_PACKAGES } from "../../node/observe/otlp-tracer.ts";
import { lockHolder } from "../../store/storage/lock.ts";
import type { CliContext } from "../context.ts";
import { CommandError, descendsFrom, portOwner } from "../errors.ts";
import { checkCertificate, checkTokens } from "./access-checks.ts";
import { programFinding } from "./engine-program.ts";
import type { Check, Finding } from "./finding.ts";
import { type NetworkOptions, networkFindings } from "./network.ts";
import { type FileSystem, type System, thisSystem } from "./system.ts";

/** Room for some days of blocks; below it there is little time to act. */
const FREE_BYTES_COMFORTABLE = 5 * 2 ** 30;
/** Segments of the log, files of the index, of CometBFT and of the keystore. */
const FREE_FILES_MIN = 1000;
/** What a node with a million accounts needs, with its caches and some heavy calls. */
const MEMORY_BYTES_MIN = 2 ** 30;
/** Files of the store, listeners and peers, besides the connections of callers. */
const OWN_FILES = 200;

/** All checks, in the order of the report. */
export const CHECKS: readonly Check[] = [
  checkHome,
  checkDisk,
  checkMemory,
  checkOpenFiles,
  checkClock,
  checkSecrets,
  checkCertificate,
  checkTokens,
  checkPorts,
  checkPackages,
  checkEngine,
  checkSettings,
];

function checkHome({ home, dev }: Config): Finding[] {
  const subject = "home";
  if (!existsSync(dev ? devGenesisPath(home) : genesisPath(home))) {
    const text = dev
      ? `no chain in ${home} yet; the first start creates it`
      : `no chain in ${home}: create one with "evmintd init --home ${home}"`;
    return [{ level: dev ? "warning" : "fault", subject, text }];
  }
  for (const folder of [home, dataPath(home)].filter((each) => existsSync(each))) {
    try {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch {
      const text = `this user cannot write ${folder}: run the node as its owner, or chown it`;
      return [{ level: "fault", subject, text }];
    }
  }
  return [{ level: "ok", subject, text: home }];
}

/** The disk of the home, and that of an index elsewhere. */
function checkDisk({ home, index }: Config, { fileSystem }: System): Finding[] {
  const folders = index.path === "" ? [home] : [home, resolve(home, index.path)];
  return folders.filter((folder) => existsSync(folder)).flatMap((folder) => checkDiskOf(folder, fileSystem(folder)));
}

function checkDiskOf(folder: string, { freeBytes, freeFiles, isRemote }: FileSystem): Finding[] {
  const subject = "disk";
  const text = `${gibibytes(freeBytes)} free under ${folder}`;
  if (isRemote) {
    const advice = "the index needs a local file system; move it to one";
    return [{ level: "fault", subject, text: `${folder} is on a network file system: ${advice}` }];
  }
  if (freeBytes < FREE_BYTES_MIN) {
    const advice = `the node makes no blocks below ${FREE_BYTES_MIN / 2 ** 20} MiB; free some space`;
    return [{ level: "fault", subject, text: `${text}: ${advice}` }];
  }
  if (freeFiles !== undefined && freeFiles < FREE_FILES_MIN) {
    const advice = "remove files, or move the home";
    return [{ level: "fault", subject, text: `room for ${freeFiles} files: ${advice}` }];
  }
  if (freeBytes >= FREE_BYTES_COMFORTABLE) return [{ level: "ok", subject, text }];
  return [{ level: "warning", subject, text: `${text}: free some space, or move the home` }];
}

function checkMemory(_config: Config, { memoryBytes }: System): Finding[] {
  const text = `${gibibytes(memoryBytes)} for this process`;
  if (memoryBytes >= MEMORY_BYTES_MIN) return [{ level: "ok", subject: "memory", text }];
  const advice = "give it 1 GiB or more, or lower cache.size and json-rpc.workers";
  return [{ level: "warning", subject: "memory", text: `${text}: ${advice}` }];
}

function checkOpenFiles({ rpcLimits, limits }: Config, { openFilesMax }: System): Finding[] {
  if (openFilesMax === undefined) return [];
  const { httpConnectionsMax } = rpcLimits;
  const { wsConnectionsMax, ipcConnectionsMax } = limits.server;
  const needed = httpConnectionsMax + wsConnectionsMax + ipcConnectionsMax + OWN_FILES;
  const subject = "open files";
  if (openFilesMax >= needed) return [{ level: "ok", subject, text: `limit ${openFilesMax}` }];
  const advice = `raise it (ulimit -n ${needed}, or LimitNOFILE= in a systemd unit), or lower the connection limits`;
  const text = `the limit of ${openFilesMax} is below the ${needed} needed for all allowed connections: ${advice}`;
  return [{ level: "warning", subject, text }];
}

function checkClock({ home }: Config, system: System, now: () => number): Finding[] {
  const subject = "clock";
  const time = new Date(now()).toISOString();
  if (now() > PLAUSIBLE_MS_MAX) {
    return [{ level: "fault", subject, text: `the clock says ${time}, which is wrong: correct it` }];
  }
  const stopped = openClockStopFile(clockStopPath(home)).read();
  if (stopped === undefined) {
    if (system.isClockSynchronised !== false) return [{ level: "ok", subject, text: time }];
    const text = `${time}, without synchronization: enable NTP (timedatectl set-ntp true)`;
    return [{ level: "warning", subject, text }];
  }
  const advice = "correct the clock, or confirm it by one start with --accept-clock";
  const text = `a jump to ${new Date(stopped).toISOString()} stopped block production: ${advice}`;
  return [{ level: "fault", subject, text }];
}

function checkSecrets({ home, tls }: Config): Finding[] {
  if (process.platform === "win32") return [];
  const engineKeys = join(cometbftPath(home), "config");
  const files = [
    jwtSecretPath(home),
    nodeKeyPath(home),
    whisperIdentitiesPath(home),
    ...filesIn(engineKeys).filter((path) => /\/(priv_validator_key[^/]*|node_key)\.json$/.test(path)),
    ...(tls.key === "" ? [] : [resolve(home, tls.key)]),
    ...[keystorePath(home), walletsPath(home)].flatMap(filesIn),
  ].filter((path) => existsSync(path));
  const open = files.filter((path) => (statSync(path).mode & 0o077) !== 0);
  if (open.length === 0) {
    return [{ level: "ok", subject: "secrets", text: "only the owner can read them" }];
  }
  return open.map((path) => ({
    level: "fault",
    subject: "secrets",
    text: `other users can read ${path}: chmod 600 it, and replace its secret if someone may have read it`,
  }));
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function checkPorts({ home, jsonRpc, metrics, consensus, cometbft }: Config): Finding[] {
  const listeners: (readonly [string, HostPort])[] = [
    ...(jsonRpc.enable
      ? ([
          ["json-rpc.address", jsonRpc.address],
          ["json-rpc.ws-address", jsonRpc.wsAddress],
        ] as const)
      : []),
    ...(metrics.enable ? [["metrics.address", metrics.address] as const] : []),
    ...(consensus.engine === "cometbft" ? ([["cometbft.p2p-address", cometbft.p2pAddress]] as const) : []),
  ];
  const node = lockHolder(join(dataPath(home), "lock"));
  return listeners.map(([key, address]) => {
    const owner = address.port === 0 ? undefined : portOwner(address.port);
    const text = `${key} ${formatHostPort(address)}`;
    if (owner === undefined) return { level: "ok", subject: "ports", text: `${text} is free` };
    // CometBFT and RPC processes are children of the node.
    if (node !== undefined && descendsFrom(owner.pid, node)) {
      return { level: "ok", subject: "ports", text: `${text} is in use by this node, ${owner.name}` };
    }
    return {
      level: "warning",
      subject: "ports",
      text: `${text} is in use by ${owner.name}: stop it, or choose another address`,
    };
  });
}

/** Optional packages, and the features that need them. */
const OPTIONAL_PACKAGES = [
  ["lmdb", "fault", "the index is in memory and rebuilt at each start"],
  ["secp256k1", "warning", "sender recovery is slower"],
] as const;

const TRACING_PACKAGES = OPENTELEMETRY_PACKAGES.map(
  (name) =>
    [name.slice(0, name.lastIndexOf("@")), "fault", "the node does not start if tracing.endpoint is set"] as const,
);

function checkPackages({ shh, tracing }: Config, { nodeVersion, hasPackage }: System): Finding[] {
  const usesPeers = shh.address !== null || shh.peers.length > 0;
  const wanted = [
    ...OPTIONAL_PACKAGES,
    ...(usesPeers ? [["libp2p", "fault", "shh.address and shh.peers do not work"] as const] : []),
    ...(tracing.endpoint === null ? [] : TRACING_PACKAGES),
  ];
  const missing = wanted.filter(([name]) => !hasPackage(name));
  return [
    { level: "ok", subject: "versions", text: `Node.js ${nodeVersion}` },
    ...missing.map(([name, level, effect]) => {
      const text = `package ${name} is missing: ${effect}; reinstall with optional dependencies`;
      return { level, subject: "versions", text };
    }),
  ];
}

function checkEngine(config: Config, { programVersion }: System): Finding[] {
  const { consensus, cometbft, home } = config;
  if (consensus.engine !== "cometbft") return [];
  const subject = "engine";
  try {
    engineRpcSocket(cometbftPath(home));
    const path = findProgram(cometbft.binary);
    const found = programFinding(path, programVersion(path));
    const signer = remoteSignerOf(config);
    if (signer === undefined) return [found];
    const text = `CometBFT waits at ${signer.address} for a remote signer, and starts once it connects`;
    return [found, { level: "ok", subject, text }];
  } catch (error) {
    return [{ level: "fault", subject, text: (error as Error).message }];
  }
}

function checkSettings(config: Config): Finding[] {
  const dangers = dangersOf(config);
  if (dangers.length === 0) {
    return [{ level: "ok", subject: "settings", text: "no setting gives strangers access" }];
  }
  return dangers.map((text) => ({ level: "warning", subject: "settings", text }));
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

/** Prints all findings with advice for each fault. @throws CommandError for faults, UsageError */
export async function doctor(
  config: Config,
  { stdout, now, timers }: Pick<CliContext, "stdout" | "now" | "timers">,
  options: NetworkOptions = { peers: [] },
  system: System = thisSystem(),
): Promise<void> {
  const findings = [
    ...CHECKS.flatMap((check) => check(config, system, now)),
    ...(await networkFindings(config, system, { now, timers }, options)),
  ];
  for (const { level, subject, text } of findings) {
    // Paths, and names of other programs.
    stdout.write(`${level.padEnd(8)} ${subject.padEnd(10)} ${escapeControls(text)}\n`);
  }
  const faults = findings.filter(({ level }) => level === "fault").length;
  if (faults > 0) throw new CommandError(`faults found: ${faults}`);
}
