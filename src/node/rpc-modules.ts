import type { Config } from "../config/config.ts";
import { clientVersion } from "../config/version.ts";
import type { ControlModules } from "../rpc/control-methods.ts";
import { BlockJsonCache } from "../rpc/json/block-json-cache.ts";
import { KeyedLock } from "../rpc/keyed-lock.ts";
import type { RpcModules } from "../rpc/methods.ts";
import type { NodeInfo } from "../rpc/node-info.ts";
import { createCallExecutor } from "./call-executor.ts";
import type { ChainCore } from "./compose-chain.ts";
import { createFeeReader } from "./fee-reader.ts";

/** Newest devp2p `eth` version of geth, which tools compare with; this node speaks none. */
const ETH_PROTOCOL_VERSION = 69;

/** Everything the JSON-RPC methods ask for. */
export function createRpcModules(
  config: Config,
  core: ChainCore,
  network: Pick<NodeInfo, "isListening">,
  control: ControlModules,
): RpcModules {
  const { jsonRpc } = config;
  const fees = createFeeReader(config, core);
  return {
    node: {
      clientVersion: clientVersion(),
      networkId: core.chain.config.chainId,
      protocolVersion: ETH_PROTOCOL_VERSION,
      peerCount: () => 0,
      coinbase: () => core.feeRecipient.value,
      // One validator, in this process: there is nothing to catch up with.
      syncProgress: () => undefined,
      ...network,
    },
    chain: core.reader,
    pool: core.mempool,
    submit: core.submit,
    submissionRules: core.submissionRules,
    executor: createCallExecutor(
      {
        gasCap: jsonRpc.callGasMax,
        timeoutMs: jsonRpc.callTimeoutMs,
        memoryBytesMax: jsonRpc.callMemoryBytesMax,
      },
      core,
      fees.suggestTip,
    ),
    fees,
    blockJson: new BlockJsonCache({
      bytesMax: jsonRpc.blockCacheBytes,
      nullPowFields: jsonRpc.nullPowFields,
    }),
    ...control,
    signer: control.keys,
    passphraseSigner: (account, passphrase, digest) =>
      control.keys.signWithPassphrase(account, passphrase, digest),
    chainName: config.chain.name,
    sendLock: new KeyedLock(),
  };
}
