import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { invariant } from "../../../base/errors.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Metrics } from "../../../base/telemetry/metrics.ts";
import type { Contracts } from "../../../dev/artifacts/contracts.ts";
import { createClientAdmission } from "../../../rpc/methods/les/client-admission.ts";
import { createMethodRegistry } from "../../../rpc/methods/methods.ts";
import type { DevPort, Forking } from "../../../rpc/ports/dev.ts";
import type { ExecutionPort } from "../../../rpc/ports/execution.ts";
import type { Readiness } from "../../../rpc/ports/node.ts";
import { createAuthenticator, type TokenKeys } from "../../../rpc/transport/auth/authenticator.ts";
import { namespaceOf } from "../../../rpc/transport/dispatch/method.ts";
import { type RpcServer, startRpcServer } from "../../../rpc/transport/server/server.ts";
import { DappDb } from "../../../store/storage/dapp-db.ts";
import { openDurableLmdbKv } from "../../../store/storage/lmdb/lmdb-kv.ts";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { createCallerFiles } from "../../adapters/caller-files.ts";
import { NodeProvider } from "../../adapters/provider.ts";
import {
  allowedOriginsOf,
  describeListeners,
  endpointsOf,
  exposedUrl,
  type Listener,
  namespacesOf,
} from "../../adapters/rpc-endpoints.ts";
import { createRpcObserver } from "../../adapters/rpc-observer.ts";
import { rpcLimitsOf } from "../../adapters/rpc-settings.ts";
import { lastingConnectionSessions, reportSessions } from "../../adapters/sessions.ts";
import type { Config } from "../../config/config.ts";
import { dataPath, isInMemory, verifiedContractsPath } from "../../config/home.ts";
import { createJwtSecret, createNodeKey, type InstanceId, openInstanceId } from "../../config/secrets.ts";
import type { TlsFiles } from "../../config/tls-files.ts";
import { fixedTokenKeys, openTokenFiles } from "../../config/token-file.ts";
import { formatHostPort } from "../../config/value-types.ts";
import type { AccountManager } from "../../keystore/account-manager.ts";
import { UnlockForbiddenError } from "../../keystore/errors.ts";
import type { ActivityLog } from "../../observe/activity/activity-log.ts";
import { createOtherRequests } from "../../observe/other-requests.ts";
import type { RpcProcesses } from "../../processes/rpc-processes.ts";
import { startRpcProcesses } from "../../processes/rpc-processes.ts";
import { createRuntimePort } from "../../profiling/runtime-port.ts";
import { filesInFolder, filesInMemory, VerifiedContracts } from "../../services/contracts/verified-contracts.ts";
import { LightClientService } from "../../services/light-client-service.ts";
import { createSolidityCompiler } from "../../services/solidity-compiler.ts";
import { WhisperService } from "../../services/whisper-service.ts";
import type { ChainRole } from "../chain/chain-role.ts";
import type { NodeTools } from "../node-tools.ts";
import { Resources } from "../resources.ts";
import { ChainRpc, type RpcServices } from "./chain-rpc.ts";
import { openKeys } from "./open-keys.ts";
import { RpcSwitch } from "./rpc-switch.ts";

/** Grace period of running calls when the node stops: a node ends within five seconds. */
const STOP_GRACE_MS = 2_000;

export type RpcRoleModules = NodeTools & {
  readonly role: ChainRole;
  /** Shows single calls; undefined if they are not observed */
  readonly activity: ActivityLog | undefined;
  readonly readiness: () => Readiness;
  readonly tls: TlsFiles | undefined;
  /** From `--artifacts`; undefined if not given */
  readonly artifacts: Contracts | undefined;
  readonly reset: (forking: Forking | undefined, instance: InstanceId) => Promise<void>;
  readonly loadState: DevPort["loadState"];
};

/** The parts that answer calls: listeners, RPC processes, methods, and their resources besides the chain. */
export class RpcRole {
  /** undefined: this process serves every connection */
  processes: RpcProcesses | undefined;
  readonly #config: Config;
  readonly #modules: RpcRoleModules;
  readonly #resources = new Resources();
  readonly #instance: InstanceId;
  #services: RpcServices | undefined;
  #chain: ChainRpc | undefined;
  /** undefined: the chain is never replaced, and calls avoid the small cost of the switch */
  #switch: RpcSwitch | undefined;
  #server: RpcServer | undefined;
  #provider: NodeProvider | undefined;
  #isListening = false;

  private constructor(config: Config, modules: RpcRoleModules) {
    this.#config = config;
    this.#modules = modules;
    this.#instance = openInstanceId(config);
  }

  /**
   * Opens all configured listeners, or none.
   * @throws UnknownNamespaceError, InvalidConfigError, and errors of listening
   */
  static async start(config: Config, modules: RpcRoleModules): Promise<RpcRole> {
    const rpc = new RpcRole(config, modules);
    await rpc.#resources.during(() => rpc.#open());
    return rpc;
  }

  /** All methods, for programs in this process. */
  get provider(): NodeProvider {
    return this.#provider!;
  }

  /** Executes on the current chain. */
  get execution(): ExecutionPort {
    return this.#chain!.ports.execution;
  }

  /** Names of the current methods. */
  get methods(): Iterable<string> {
    return this.#chain!.registry.keys();
  }

  get listeners(): readonly Listener[] {
    return describeListeners(this.#server!, this.#config, this.#services!.known);
  }

  /** Runs `work` for a call of this node while no other call runs. */
  async whileIdle(work: () => Promise<void>): Promise<void> {
    invariant(this.#switch !== undefined, "only a dev chain can be reset");
    await this.#switch.whileIdle(work);
  }

  /** Closes all readers of the chain, and serves the one that `open` returns. For `whileIdle`. */
  async replaceChain(open: () => Promise<ChainRole>): Promise<void> {
    await this.#chain!.close();
    this.#chain = new ChainRpc(this.#config, await open(), this.#services!);
    this.#switch!.target = this.#chain;
    this.#instance.renew();
  }

  async close(): Promise<void> {
    this.#isListening = false;
    await this.#resources.close();
  }

  async #open(): Promise<void> {
    const config = this.#config;
    const { role, log, metrics, timers, machineTimers, activity, tracer } = this.#modules;
    const rpcLog = log.child("rpc");
    this.#services = await this.#openServices();
    this.#chain = new ChainRpc(config, role, this.#services);
    this.#resources.add(() => this.#chain!.close());
    const { ports } = this.#chain;
    // Only a dev chain can be replaced.
    if (config.dev && role.devChain) this.#switch = new RpcSwitch(this.#chain, timers);
    const registry = this.#switch?.registry ?? this.#chain.registry;
    const keys = isInMemory(config) ? fixedTokenKeys(randomBytes(32)) : tokenFilesOf(config, { log: rpcLog, timers });
    const authentication = createAuthenticator(
      { keys, ...config.limits.tokens, onBadToken: (source) => this.processes?.countBadToken(source) },
      { timers },
    );
    const tls = this.#modules.tls?.material;
    const { serving } = this.#services.lightClients;
    this.processes = startRpcProcesses(config, tls, {
      ...this.#modules,
      core: role,
      genesisTime: role.opened.genesis.timestamp,
      registry,
      ports,
      serving,
      timers: machineTimers,
      log: rpcLog,
      onBadToken: authentication.countBadToken,
    });
    this.#resources.add(() => this.processes?.close());
    reportSessions(metrics, ports.sessions);
    this.#resources.add(() => ports.sessions.feeds.close());
    this.#provider = new NodeProvider(registry, ports);
    this.#resources.add(() => this.#provider?.close());
    const { jsonRpc, ipc, home } = config;
    if (ipc.path !== "") makeFolder(home);
    const { endpoints } = this.#services;
    this.#server = await startRpcServer(
      {
        ...(jsonRpc.enable && (isOneAddress(jsonRpc) ? { http: endpoints.http } : endpoints)),
        ...(ipc.path !== "" && { ipc: { path: resolve(home, ipc.path) } }),
        allowedHosts: jsonRpc.vhosts,
        allowedOrigins: allowedOriginsOf(config),
        limits: rpcLimitsOf(config),
        // If every page may call, the content type protects nothing, and scripts of anvil's users omit it.
        takesAnyContentType: config.devChain.dialect === "anvil" && allowedOriginsOf(config).includes("*"),
        ...(tls && { tls }),
      },
      {
        registry,
        modules: ports,
        timers,
        observer: createRpcObserver(rpcLog, metrics, activity?.call, tracer),
        ...(serving && { admission: createClientAdmission({ serving, timers }) }),
        authenticate: authentication.authenticate,
        connectionWorkers: this.processes,
        otherRequest: createOtherRequests(config, rpcLog, this.#modules.readiness, ports),
      },
    );
    this.#resources.add(() => this.#server?.close(STOP_GRACE_MS));
    this.#modules.tls?.onChange((material) => {
      this.#server?.setTls(material);
      this.processes?.setTls(material);
    });
    this.#isListening = true;
  }

  /** The services that methods use besides the chain. */
  async #openServices(): Promise<RpcServices> {
    const config = this.#config;
    const resources = this.#resources;
    const { role, log, metrics, failures, timers, machineTimers, reset } = this.#modules;
    const known = [...new Set([...createMethodRegistry(config).keys()].map(namespaceOf))];
    const endpoints = endpointsOf(config, known);
    const keys = this.#openKeys();
    resources.add(() => keys.close());
    const files = createCallerFiles(config);
    const { close: closeRuntime, ...runtime } = createRuntimePort({ log, files, timers });
    resources.add(closeRuntime);
    const lightClients = new LightClientService(config, { timers, metrics });
    resources.add(() => lightClients.close());
    const whisper = await WhisperService.start(
      config,
      {
        log: log.child("shh"),
        failures,
        timers: machineTimers,
        metrics,
        // A chain that can be replaced has no network.
        networkHosts: () => networkHostsOf(role),
      },
      namespacesOf(config.jsonRpc.api, known).includes("shh"),
    );
    resources.add(() => whisper.close());
    const dappDb = openDappDb(config, metrics);
    resources.add(() => dappDb.close());
    const compiler = createSolidityCompiler(
      config.jsonRpc.compileSolidity,
      machineTimers,
      config.limits.server.compileTimeoutMs,
    );
    resources.add(() => compiler.close());
    return {
      ...this.#modules,
      keys,
      dappDb,
      compiler,
      verifiedContracts: openVerifiedContracts(config, log.child("contracts")),
      runtime,
      files,
      lightClients,
      whisper,
      instance: this.#instance,
      endpoints,
      known,
      server: () => this.#server,
      provider: () => (this.#isListening ? this.#provider : undefined),
      isListening: () => this.#isListening,
      reset: ({ forking }) => reset(forking, this.#instance),
      connectionSessions: lastingConnectionSessions(config, log.child("rpc"), timers),
    };
  }

  #openKeys(): AccountManager {
    const { role, log, metrics, timers } = this.#modules;
    return openKeys(this.#config, log.child("keystore"), {
      metrics,
      timers,
      publicKeys: new Map(role.opened.devAccounts.map(({ address, privateKey }) => [address, hexToBytes(privateKey)])),
      assertUnlockAllowed: () => {
        const exposed = exposedUrl(this.#server?.urls ?? {});
        if (exposed !== undefined && !this.#config.jsonRpc.allowInsecureUnlock) {
          throw new UnlockForbiddenError(exposed);
        }
      },
    });
  }
}

/**
 * Creates the secret at the first start of a dev chain, and again after a user deleted it to revoke all tokens. Also creates the node's key, so
 * that no stranger's call writes to the home.
 */
function tokenFilesOf({ home }: Config, modules: Pick<RpcRoleModules, "log" | "timers">): TokenKeys {
  createNodeKey(home);
  createJwtSecret(home);
  return openTokenFiles(home, modules);
}

/** HTTP's port also serves WebSocket; if both addresses are equal, it is the only port. */
function isOneAddress({ address, wsAddress }: Config["jsonRpc"]): boolean {
  return address.port !== 0 && formatHostPort(address) === formatHostPort(wsAddress);
}

function networkHostsOf({ production: { engine } }: ChainRole): readonly string[] {
  const addresses = engine.network?.peers().map(({ remoteAddress }) => remoteAddress) ?? [];
  return [...new Set(addresses.map((address) => address.slice(0, address.lastIndexOf(":"))))];
}

function openVerifiedContracts(config: Config, log: Logger): VerifiedContracts {
  const files = isInMemory(config) ? filesInMemory() : filesInFolder(verifiedContractsPath(config.home));
  return new VerifiedContracts(files, log);
}

function openDappDb({ home, limits }: Config, metrics: Metrics): DappDb {
  const directory = join(dataPath(home), "dapp-db");
  const rejected = metrics.counter({
    name: "dapp_db_rejected_puts_total",
    help: "Values of db_putString and db_putHex rejected by a limit.",
  });
  return new DappDb(limits.dappDb, {
    onRefused: () => rejected.add(),
    exists: () => existsSync(join(directory, "data.mdb")),
    open: () => openDurableLmdbKv(directory),
  });
}
