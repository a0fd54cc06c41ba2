import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A node under measurement in a process of its own. */
export type Peer = {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its first answer: wall milliseconds, and CPU milliseconds of the process. */
  readonly firstAnswer: { readonly wallMs: number; readonly cpuMs: number };
  /** CPU seconds its process has used, user and system. */
  cpuSeconds(): number;
  /** Resident memory in bytes. */
  residentBytes(): number;
  stop(): Promise<void>;
};

export type PeerOptions = {
  /** Home of our own node, left in place; absent: a fresh one that is removed. */
  readonly home?: string;
  /** Seconds between blocks; absent: a block for each transaction. */
  readonly blockTimeSeconds?: number;
  readonly extraArguments?: readonly string[];
  /** Begins the chain with this geth genesis file. */
  readonly genesisFile?: string;
  /** The log of our own node is read from a pipe, and nobody sees it. */
  readonly readsLog?: boolean;
  /** Of Node.js itself; for our own node only. */
  readonly runtimeArguments?: readonly string[];
};

/** Our own node with `--dev`. */
export async function startEvmint(options: PeerOptions = {}): Promise<Peer & { readonly home: string }> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const [port, wsPort] = [await freePort(), await freePort()];
  const blockTime = options.blockTimeSeconds ? `${options.blockTimeSeconds}s` : "instant";
  const entry = join(root, "bin/evmintd.js");
  const { genesisFile } = options;
  if (genesisFile) {
    execFileSync(process.execPath, [entry, "init", "--home", home, "--genesis", genesisFile]);
  }
  const child = spawn(
    process.execPath,
    [
      ...(options.runtimeArguments ?? []),
      entry,
      "start",
      "--home",
      home,
      "--consensus.block-time",
      blockTime,
      ...(genesisFile ? ["--json-rpc.enable", "true"] : ["--dev"]),
      "--json-rpc.address",
      `127.0.0.1:${port}`,
      "--json-rpc.ws-address",
      `127.0.0.1:${wsPort}`,
      "--log.level",
      "warn",
      ...(options.extraArguments ?? []),
    ],
    { stdio: ["ignore", "ignore", options.readsLog ? "pipe" : "inherit"] },
  );
  child.stderr?.resume();
  const node = await peer("evmint", port, child, () => {
    if (options.home === undefined) rmSync(home, { recursive: true, force: true });
  });
  return { ...node, home };
}

/** Answers every request with one constant over `node:http`, or over `node:net` without reading it: no node can cost less. */
export async function startConstantServer(kind: "http" | "net"): Promise<Peer> {
  const port = await freePort();
  const entry = join(root, "bench/support/constant-server.ts");
  const child = spawn(process.execPath, ["--import", "tsx", entry, kind, String(port)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return peer(`constant, node:${kind}`, port, child, () => {});
}

/** anvil from npm, or undefined where its binary is not installed. */
export async function startAnvil(options: PeerOptions = {}): Promise<Peer | undefined> {
  const binary = foundryBinary("anvil");
  if (!binary) return undefined;
  const port = await freePort();
  const blockTime = options.blockTimeSeconds ? ["--block-time", String(options.blockTimeSeconds)] : [];
  const child = spawn(binary, ["--port", String(port), "--silent", ...blockTime, ...(options.extraArguments ?? [])], {
    stdio: "ignore",
  });
  return peer("anvil", port, child, () => {});
}

/**
 * geth's dev chain, or undefined where there is no `geth` on PATH. Calls have no gas or time limit but their own. The chain is in
 * memory; on disk when it begins with a genesis file.
 */
export async function startGeth(options: PeerOptions = {}): Promise<Peer | undefined> {
  const binary = gethBinary();
  if (!binary) return undefined;
  const [port, authPort] = [await freePort(), await freePort()];
  const { genesisFile, blockTimeSeconds, extraArguments = [] } = options;
  const home = genesisFile && mkdtempSync(join(tmpdir(), "evmint-geth-"));
  const data = home ? ["--datadir", home] : [];
  if (genesisFile) execFileSync(binary, [...data, "init", genesisFile], { stdio: "ignore" });
  const period = blockTimeSeconds ? ["--dev.period", String(blockTimeSeconds)] : [];
  const child = spawn(
    binary,
    [
      "--dev",
      ...data,
      ...period,
      "--verbosity",
      "0",
      "--ipcdisable",
      "--maxpeers",
      "0",
      "--nodiscover",
      "--port",
      "0",
      "--authrpc.port",
      String(authPort),
      "--http",
      "--http.port",
      String(port),
      "--http.api",
      "eth",
      "--rpc.gascap",
      "0",
      "--rpc.evmtimeout",
      "0",
      ...extraArguments,
    ],
    { stdio: "ignore" },
  );
  return peer("geth", port, child, () => {
    if (home) rmSync(home, { recursive: true, force: true });
  });
}

/** `geth` on PATH, or undefined where there is none. */
export function gethBinary(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, "geth")).find((file) => existsSync(file));
}

/** The native file of a Foundry tool that npm installed for this platform. */
export function foundryBinary(tool: "anvil" | "cast"): string | undefined {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const file = join(root, `node_modules/@foundry-rs/${tool}-${process.platform}-${arch}/bin/${tool}`);
  return existsSync(file) ? file : undefined;
}

async function peer(name: string, port: number, child: ChildProcess, cleanUp: () => void): Promise<Peer> {
  const begin = performance.now();
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  const cpuSeconds = () => processesOf(child.pid!).reduce((seconds, pid) => seconds + cpuSecondsOf(pid), 0);
  await untilAnswering(name, port, child);
  const firstAnswer = { wallMs: performance.now() - begin, cpuMs: cpuSeconds() * 1000 };
  return {
    name,
    port,
    pid: child.pid!,
    firstAnswer,
    cpuSeconds,
    residentBytes: () => {
      const pids = processesOf(child.pid!);
      return pids.reduce((bytes, pid) => bytes + residentBytesOf(pid), 0);
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
      cleanUp();
    },
  };
}

/** A process and all that it started. */
function processesOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => processesOf(Number(child)))];
}

export function cpuSecondsOf(pid: number): number {
  return cpuSecondsIn(`/proc/${pid}/stat`);
}

/** Of the thread that a process began with. */
export function mainThreadSecondsOf(pid: number): number {
  return cpuSecondsIn(`/proc/${pid}/task/${pid}/stat`);
}

/** Fields 14 and 15 of /proc/PID/stat, counted after the name in brackets; 100 ticks a second on Linux. */
function cpuSecondsIn(path: string): number {
  const stat = readFileSync(path, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Pages that processes share count for each of them. */
function residentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

async function untilAnswering(name: string, port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    if (child.exitCode !== null) throw new Error(`${name} exited with ${child.exitCode}`);
    try {
      await call(port, "eth_chainId", []);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 5));
    }
  }
  throw new Error(`${name} did not answer within 15 s`);
}

/** One JSON-RPC call. @throws the error object's message */
export async function call<T = unknown>(port: number, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
