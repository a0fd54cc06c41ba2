import type { Config } from "../config/config.ts";
import { clientVersion } from "../config/version.ts";
import type { ControlModules } from "../rpc/control-methods.ts";
import { HashrateRegistry } from "../rpc/eth/client/hashrate-registry.ts";
import { KeyedLock } from "../rpc/eth/submit/keyed-lock.ts";
import { BlockJsonCache } from "../rpc/json/block-json-cache.ts";
import { METHODS, type RpcModules } from "../rpc/methods.ts";
import type { NodeInfo } from "../rpc/ports/node-info.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createCallExecutor } from "./adapters/call-executor.ts";
import { createEventModules } from "./adapters/event-modules.ts";
import { createFeeReader } from "./adapters/fee-reader.ts";
import { createSimulator } from "./adapters/simulator.ts";
import { createSolidityCompiler } from "./adapters/solidity-compiler.ts";
import { createTraceExecutor } from "./adapters/trace-executor.ts";
import type { ChainCore } from "./compose-chain.ts";

/** Newest devp2p `eth` version of geth, which tools compare with; this node speaks none. */
const ETH_PROTOCOL_VERSION = 69;

/** Everything the JSON-RPC methods ask for. */
export function createRpcModules(
  config: Config,
  log: Logger,
  core: ChainCore,
  network: Pick<NodeInfo, "isListening">,
  control: ControlModules,
): RpcModules {
  const { jsonRpc } = config;
  const callLimits = {
    gasCap: jsonRpc.callGasMax,
    timeoutMs: jsonRpc.callTimeoutMs,
    memoryBytesMax: jsonRpc.callMemoryBytesMax,
    returnBytesMax: jsonRpc.returnBytesMax,
  };
  const fees = createFeeReader(config, core);
  const node: NodeInfo = {
    clientVersion: clientVersion(),
    networkId: core.chain.config.chainId,
    protocolVersion: ETH_PROTOCOL_VERSION,
    peerCount: () => 0,
    coinbase: () => core.feeRecipient.value,
    // One validator, in this process.
    isValidator: () => true,
    // There is nothing to catch up with.
    syncProgress: () => undefined,
    ...network,
  };
  const blockJson = new BlockJsonCache({
    bytesMax: jsonRpc.blockCacheBytes,
    nullPowFields: jsonRpc.nullPowFields,
  });
  return {
    node,
    chain: core.reader,
    pool: core.mempool,
    submit: core.submit,
    submissionRules: core.submissionRules,
    executor: createCallExecutor(callLimits, core, fees.suggestTip),
    blockTester: core.blockTester,
    tracing: createTraceExecutor(callLimits, core),
    simulator: createSimulator(callLimits, core),
    fees,
    blockJson,
    ...createEventModules(config, log, core, { blockJson, node }),
    ...control,
    signer: control.keys,
    passphraseSigner: (account, passphrase, digest) =>
      control.keys.signWithPassphrase(account, passphrase, digest),
    chainName: config.chain.name,
    compiler: createSolidityCompiler(),
    blobProver: core.blobWorkers.prover,
    methods: () => METHODS,
    hashrates: new HashrateRegistry(() => performance.now()),
    sendLock: new KeyedLock(),
  };
}
