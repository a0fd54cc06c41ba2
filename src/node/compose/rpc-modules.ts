import type { Chain } from "../../chain/chain.ts";
import type { Config } from "../../config/config.ts";
import type { InstanceId } from "../../config/instance-id.ts";
import { clientVersion } from "../../config/version.ts";
import { remoteName } from "../../dev/fork/fetch-remote-calls.ts";
import type { AccountManager } from "../../keystore/account-manager.ts";
import type { NodeAdmin } from "../../rpc/admin/port.ts";
import type { MethodInfo } from "../../rpc/dispatch/method.ts";
import type { LesPort } from "../../rpc/les/port.ts";
import type { MinerSettings } from "../../rpc/miner/port.ts";
import type { ChainView } from "../../rpc/ports/chain-view.ts";
import type { DevPort } from "../../rpc/ports/dev.ts";
import type { ExecutionPort } from "../../rpc/ports/execution.ts";
import type { NodePort, Readiness } from "../../rpc/ports/node.ts";
import type { RemotePorts, RpcPorts, RpcSettings } from "../../rpc/ports/rpc-ports.ts";
import type { RuntimePort } from "../../rpc/ports/runtime.ts";
import type { ShhPort } from "../../rpc/shh/port.ts";
import type { DappDb } from "../../storage/dapp-db.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { callLimitsOf } from "../adapters/call-limits.ts";
import type { CallerFiles } from "../adapters/caller-files.ts";
import { createChainView } from "../adapters/chain-view.ts";
import { createDevPort } from "../adapters/dev-port.ts";
import { createBlockMethods, createExecutionPort } from "../adapters/execution-port.ts";
import { createInspectionPort } from "../adapters/inspection-port.ts";
import { createKeysPort } from "../adapters/keys-port.ts";
import {
  type ConnectionPorts,
  type ConnectionSessions,
  createFilterSessions,
} from "../adapters/sessions.ts";
import { createSolidityCompiler } from "../adapters/solidity-compiler.ts";
import { createThreadedExecution } from "../adapters/threaded-execution.ts";
import { createValidatorVoting } from "../adapters/validator-voting.ts";
import { setForkUrl } from "../dev/fork-url.ts";
import type { ExecutionThreads } from "../workers/execution-threads.ts";
import type { ChainCore } from "./compose-chain.ts";
import { submissionRulesOf } from "./submission-rules.ts";

/** Blocks whose pace stands for that of the network. */
const PACE_BLOCKS = 100;
/** Newest devp2p `eth` version of geth, which tools compare with; this node speaks none. */
const ETH_PROTOCOL_VERSION = 69;

/** What the ports reach besides the chain. */
export type NodeModules = {
  readonly keys: AccountManager;
  readonly admin: NodeAdmin;
  readonly miner: MinerSettings;
  readonly dappDb: DappDb;
  readonly runtime: RuntimePort;
  readonly les: LesPort;
  readonly shh: ShhPort;
  readonly files: CallerFiles;
  /** For `rpc_discover`. */
  readonly methods: readonly MethodInfo[];
  readonly isListening: () => boolean;
  readonly readiness: () => Readiness;
  /** undefined: calls run on this thread */
  readonly threads: ExecutionThreads | undefined;
  readonly instance: InstanceId;
  readonly reset: DevPort["reset"];
  /** Those of connections, which stay when the chain is replaced. */
  readonly connectionSessions: (ports: ConnectionPorts) => ConnectionSessions;
};

/** The ports of the JSON-RPC methods, all in this thread but the executions of `modules.threads`. */
export function createRpcPorts(
  config: Config,
  log: Logger,
  core: ChainCore,
  modules: NodeModules,
): RpcPorts {
  const { chain, suggestTip } = createChainView(config, log, core);
  const limits = callLimitsOf(config);
  const { threads } = modules;
  const execution: ExecutionPort =
    threads === undefined
      ? createExecutionPort(limits, core, suggestTip)
      : {
          ...createThreadedExecution(limits, core, {
            ...{ suggestTip, threads },
            // What a dev chain's caller set by hand is in no store that a thread could follow.
            isLocal: () => (core.patches?.size ?? 0) > 0,
          }),
          ...createBlockMethods(core.blockTester),
        };
  const remote: RemotePorts = {
    chain,
    execution,
    inspection: createInspectionPort(limits, { core, execution, files: modules.files }),
    keys: createKeysPort(modules.keys, core.devChain),
    dev: {
      ...createDevPort(core),
      reset: modules.reset,
      setForkUrl: (url) => setForkUrl(config, core.fork, url),
    },
    node: createNodePort(config, core, chain, modules),
    les: modules.les,
    shh: modules.shh,
    runtime: modules.runtime,
    tools: {
      ...createSolidityCompiler(config.jsonRpc.compileSolidity),
      ...core.blobWorkers.prover,
    },
  };
  const settings = rpcSettings(config, modules.methods);
  const sessions = {
    ...modules.connectionSessions(remote),
    ...createFilterSessions(config, remote, settings),
  };
  return { ...remote, sessions, settings };
}

function createNodePort(
  config: Config,
  { chain, feeRecipient, engine, devChain, voting, fork }: ChainCore,
  view: ChainView,
  { admin, miner, dappDb, isListening, readiness, instance }: NodeModules,
): NodePort {
  const { consensus, devChain: devSettings } = config;
  const version = (config.dev && devSettings.clientVersion) || clientVersion();
  const startingBlock = chain.head().block.header.number;
  return {
    info: () => {
      const network = engine.network?.status();
      return {
        clientVersion: version,
        networkId: chain.config.chainId,
        protocolVersion: ETH_PROTOCOL_VERSION,
        peerCount: network?.peerCount ?? 0,
        isListening: network?.isListening ?? isListening(),
        coinbase: feeRecipient.value,
        // The solo engine is the one validator and has no chain to catch up with.
        isValidator: network?.isValidator ?? devChain?.makesBlocks ?? true,
        syncProgress: network?.isCatchingUp ? syncProgressOf(chain, startingBlock) : undefined,
      };
    },
    readiness,
    devChain: () => ({
      instanceId: instance.value(),
      isAutomine: devChain?.isAutomine ?? consensus.blockTime === "instant",
      fork: fork && {
        number: fork.base.block.header.number,
        hash: fork.base.block.hash,
        url: fork.urls[0] === undefined ? undefined : remoteName(fork.urls[0]),
      },
    }),
    ...admin,
    ...miner,
    ...createValidatorVoting(voting, chain, view, engine.network),
    getValue: (database, key) => dappDb.get(database, key),
    putValue: (database, key, value) => dappDb.put(database, key, value),
  };
}

/** What methods need to know of the settings, in whichever process they run. */
export function rpcSettings(
  { jsonRpc, chain }: Config,
  methods: readonly MethodInfo[],
): RpcSettings {
  return {
    logLimits: {
      resultsMax: jsonRpc.logsResultsMax,
      bytesMax: jsonRpc.logsBytesMax,
      workMax: jsonRpc.logsWorkMax,
      termsMax: jsonRpc.filterTermsMax,
    },
    traceFilter: { blocksMax: jsonRpc.traceFilterBlocksMax, bytesMax: jsonRpc.traceBytesMax },
    otsPageSizeMax: jsonRpc.otsPageSizeMax,
    submissionRules: submissionRulesOf(jsonRpc),
    chainName: chain.name,
    methods,
  };
}

/** CometBFT does not tell how far its peers are: the rest is estimated from the age of the head and the pace of the last blocks. */
function syncProgressOf(
  { head, headerAt }: Pick<Chain, "head" | "headerAt">,
  startingBlock: number,
) {
  const { number, timestamp } = head().block.header;
  const first = Math.max(0, number - PACE_BLOCKS);
  const seconds = timestamp - (headerAt(first)?.timestamp ?? timestamp);
  const secondsPerBlock = number > first && seconds > 0 ? seconds / (number - first) : 1;
  const ageSeconds = Math.max(0, Date.now() / 1000 - timestamp);
  return {
    startingBlock,
    currentBlock: number,
    highestBlock: number + Math.max(1, Math.floor(ageSeconds / secondsPerBlock)),
  };
}
