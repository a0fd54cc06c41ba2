import type { Contracts } from "../../../dev/artifacts/contracts.ts";
import type { Checkpoint } from "../../../heritage/les/checkpoints/checkpoint.ts";
import { type ForkedBlocks, forkedMethods } from "../../../rpc/methods/dev/forked-methods.ts";
import { createMethodRegistry } from "../../../rpc/methods/methods.ts";
import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import type { ConnectionSessions } from "../../../rpc/methods/sessions.ts";
import type { ChainView } from "../../../rpc/ports/chain-view.ts";
import type { ContractsPort } from "../../../rpc/ports/contracts.ts";
import type { DevPort } from "../../../rpc/ports/dev.ts";
import type { ExecutionPort } from "../../../rpc/ports/execution.ts";
import type { Readiness } from "../../../rpc/ports/node.ts";
import type { RemotePorts } from "../../../rpc/ports/remote-ports.ts";
import type { RuntimePort } from "../../../rpc/ports/runtime.ts";
import type { Compiler } from "../../../rpc/ports/tools.ts";
import type { Registry } from "../../../rpc/transport/dispatch/method.ts";
import type { EndpointOptions, TcpKind } from "../../../rpc/transport/server/listener.ts";
import type { RpcServer } from "../../../rpc/transport/server/server.ts";
import type { DappDb } from "../../../store/storage/dapp-db.ts";
import type { CallerFiles } from "../../adapters/caller-files.ts";
import { createChainView } from "../../adapters/chain-view.ts";
import { createDevPort } from "../../adapters/dev-port.ts";
import { createBlockMethods, createExecutionPort } from "../../adapters/execution-port.ts";
import { createInspectionPort } from "../../adapters/inspection-port.ts";
import { createKeysPort } from "../../adapters/keys-port.ts";
import { createMinerSettings } from "../../adapters/miner-settings.ts";
import { createNodeAdmin } from "../../adapters/node-admin.ts";
import { createNodePort } from "../../adapters/node-port.ts";
import type { NodeProvider } from "../../adapters/provider.ts";
import { namespacesOf } from "../../adapters/rpc-endpoints.ts";
import { callLimitsOf, rpcSettings } from "../../adapters/rpc-settings.ts";
import { type ConnectionPorts, createFilterSessions } from "../../adapters/sessions.ts";
import { admittedExecution } from "../../calls/admission.ts";
import type { ExecutionThreads } from "../../calls/execution-threads.ts";
import { createExecutionThreads } from "../../calls/execution-threads.ts";
import type { Config } from "../../config/config.ts";
import type { InstanceId } from "../../config/secrets.ts";
import type { AccountManager } from "../../keystore/account-manager.ts";
import { CheckpointService, voteForCheckpoint } from "../../services/checkpoint-service.ts";
import { ContractRegistry } from "../../services/contracts/contract-registry.ts";
import type { VerifiedContracts } from "../../services/contracts/verified-contracts.ts";
import type { LightClientService } from "../../services/light-client-service.ts";
import type { WhisperService } from "../../services/whisper-service.ts";
import type { ChainRole } from "../chain/chain-role.ts";
import type { Fork } from "../chain/open-fork.ts";
import { setForkUrl } from "../dev/fork-url.ts";
import type { NodeTools } from "../node-tools.ts";
import type { RpcTarget } from "./rpc-switch.ts";

/** The parts of the node besides the chain that methods use. They stay when the chain is replaced. */
export type RpcServices = NodeTools & {
  readonly keys: AccountManager;
  readonly dappDb: DappDb;
  readonly compiler: Compiler;
  readonly verifiedContracts: VerifiedContracts;
  /** From `--artifacts`; undefined if not given */
  readonly artifacts: Contracts | undefined;
  readonly runtime: RuntimePort;
  readonly files: CallerFiles;
  readonly lightClients: LightClientService;
  readonly whisper: WhisperService;
  readonly instance: InstanceId;
  /** As configured. */
  readonly endpoints: Readonly<Record<TcpKind, EndpointOptions>>;
  /** All namespaces. */
  readonly known: readonly string[];
  /** undefined until listeners are open */
  readonly server: () => RpcServer | undefined;
  readonly provider: () => NodeProvider | undefined;
  readonly isListening: () => boolean;
  readonly readiness: () => Readiness;
  readonly reset: DevPort["reset"];
  readonly loadState: DevPort["loadState"];
  readonly connectionSessions: (ports: ConnectionPorts) => ConnectionSessions;
};

/** The methods over one chain, their ports, and the followers of that chain. */
export class ChainRpc implements RpcTarget {
  readonly registry: Registry<RpcPorts>;
  readonly ports: RpcPorts;
  readonly #config: Config;
  readonly #role: ChainRole;
  readonly #services: RpcServices;
  readonly #checkpoints: CheckpointService;
  /** undefined: calls run on this thread */
  readonly #threads: ExecutionThreads | undefined;

  constructor(config: Config, role: ChainRole, services: RpcServices) {
    this.#config = config;
    this.#role = role;
    this.#services = services;
    const methods = createMethodRegistry(config);
    const { fork, isLoaded } = role.opened;
    this.registry = fork ? forkedMethods(methods, forkedBlocksOf(fork)) : methods;
    this.#checkpoints = this.#createCheckpoints();
    // Other threads follow the store, which has only a part of a forked chain's state, and a dump's state under another root.
    this.#threads =
      fork || isLoaded
        ? undefined
        : createExecutionThreads(config, services.log.child("rpc"), role, {
            metrics: services.metrics,
            timers: services.machineTimers,
            compiler: role.compiler,
          });
    this.ports = this.#createPorts();
    const { filters } = this.ports.sessions;
    services.metrics.gaugeOf({ name: "rpc_filters", help: "Installed filters." }, () => filters.size);
  }

  /** Afterwards no part of it reads the store. */
  async close(): Promise<void> {
    this.ports.sessions.filters.close();
    this.#checkpoints.close();
    await this.#threads?.close();
  }

  #createCheckpoints(): CheckpointService {
    const { log: nodeLog, failures, timers, metrics, keys, known, provider } = this.#services;
    const { chain } = this.#role;
    const log = nodeLog.child("les");
    const onCheckpoint = failures.guard("checkpoint vote", (checkpoint: Checkpoint) => {
      const caller = provider();
      if (caller === undefined) return undefined;
      return voteForCheckpoint(this.#config, checkpoint, { chain, keys, provider: caller, log });
    });
    return new CheckpointService(
      this.#config,
      { chain, log, timers, metrics, onCheckpoint },
      namespacesOf(this.#config.jsonRpc.api, known).includes("les"),
    );
  }

  #createPorts(): RpcPorts {
    const config = this.#config;
    const { pool, production, devChain, opened } = this.#role;
    const { keys, files, runtime, whisper, lightClients, log, timers, machineTimers, reset, loadState } =
      this.#services;
    const { compiler } = this.#services;
    const { chain, suggestTip } = createChainView(config, log.child("rpc"), {
      core: this.#role,
      pool,
      production,
      genesisTime: opened.genesis.timestamp,
      isControlled: devChain !== undefined,
      timers,
      logTexts: opened.logTexts,
    });
    const execution = this.#createExecution(suggestTip);
    const core = this.#role;
    const inspection = createInspectionPort(callLimitsOf(config), { core, production, execution, files, timers });
    const remote: RemotePorts = {
      chain,
      execution,
      inspection,
      keys: createKeysPort(keys, devChain, { listsImpersonated: config.devChain.dialect === "anvil" }),
      dev: {
        ...createDevPort({ core: this.#role, mempool: pool.mempool, devChain, patches: opened.patches, timers }),
        reset,
        loadState,
        setForkUrl: ({ url }) => setForkUrl(config, opened.fork, url, machineTimers),
      },
      node: this.#createNodePort(chain),
      les: { ...this.#checkpoints.port, ...lightClients.control },
      shh: whisper.port,
      runtime,
      tools: {
        ...pool.blobWorkers.prover,
        compilerVersion: () => compiler.compilerVersion(),
        compile: (input) => compiler.compile(input),
      },
      contracts: this.#createContracts({ chain, execution, inspection }),
    };
    const settings = rpcSettings(config, [...this.registry.values()]);
    const sessions = {
      ...this.#services.connectionSessions(remote),
      ...createFilterSessions(config, { ...remote, timers }, settings),
    };
    return { ...remote, sessions, settings, timers };
  }

  #createContracts(ports: Pick<RemotePorts, "chain" | "execution" | "inspection">): ContractsPort {
    const registry = new ContractRegistry({ ...this.#services, ...ports, verified: this.#services.verifiedContracts });
    return {
      known: (input) => registry.known(input),
      find: (input) => registry.find(input),
      verify: (input) => registry.verify(input),
      verification: (input) => registry.verification(input),
    };
  }

  #createExecution(suggestTip: () => bigint): ExecutionPort {
    const limits = callLimitsOf(this.#config);
    const { opened, production, devChain } = this.#role;
    if (this.#threads === undefined) {
      return createExecutionPort(limits, {
        core: this.#role,
        blockTester: production.blockTester,
        suggestTip,
      });
    }
    return {
      ...admittedExecution(limits, this.#role, {
        suggestTip,
        threads: this.#threads,
        // State that callers set by hand on a dev chain is not in the store that threads follow.
        isLocal: () => (opened.patches?.size ?? 0) > 0 || devChain?.settings.chainId !== undefined,
      }),
      ...createBlockMethods(production.blockTester),
    };
  }

  #createNodePort(view: ChainView) {
    const config = this.#config;
    const { opened, production, devChain, chain } = this.#role;
    const services = this.#services;
    const { keys, files, endpoints, known, whisper, log, timers } = services;
    return createNodePort(config, {
      chain,
      production,
      devChain,
      fork: opened.fork,
      view,
      admin: createNodeAdmin(config, {
        core: this.#role,
        production,
        pool: this.#role.pool,
        log,
        timers,
        files,
        endpoints,
        known,
        server: services.server,
        isRunning: services.isListening,
        whisper: () => whisper,
        hasUnlockedAccounts: () => config.dev || keys.unlockedAccounts().length > 0,
      }),
      miner: createMinerSettings(config, production, log.child("miner")),
      dappDb: services.dappDb,
      instance: services.instance,
      isListening: services.isListening,
      readiness: services.readiness,
    });
  }
}

function forkedBlocksOf({ base, call, state }: Fork): ForkedBlocks {
  const { header, hash } = base.block;
  return { number: header.number, hash, call, missedBy: (run) => state.missedBy(run) };
}
