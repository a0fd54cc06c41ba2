import { invariant } from "../../../base/errors.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { type ForkConfig, forkConfigs } from "../../../chain/fork-config.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { address, array, json, quantity, quantityNumber, rawJsonOf } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { syncProgressText } from "../json/block-json.ts";
import { SYNC_STATUS } from "../json/schemas.ts";

/** `eth_protocolVersion`: the devp2p `eth` version. */
export const protocolVersion = defineMethod({
  name: "eth_protocolVersion",
  params: {},
  result: quantityNumber,
  handle: (_params, { node }) => andThen(node.info(), ({ protocolVersion }) => protocolVersion),
});

/** `eth_chainId`: the chain id that transactions are signed for (EIP-155, EIP-695). */
export const chainId = defineMethod({
  name: "eth_chainId",
  params: {},
  result: quantity,
  handle: (_params, { chain }) => chain.config.chainId,
});

/**
 * `eth_config`: the rules at the head, of the next fork, and of the last scheduled fork.
 * @see EIP-7910
 */
export const config = defineMethod({
  name: "eth_config",
  params: {},
  result: json,
  async handle(_params, { chain }) {
    const { header } = await chain.head();
    const { current, next, last } = forkConfigs(chain.config, await firstBlock(chain), header.timestamp);
    return { current: jsonOf(current), next: jsonOf(next), last: jsonOf(last) };
  },
});

/** Block 0, also where it is pruned. A dev chain that continues another one begins with the forked block, and has its rules from there on. */
async function firstBlock(
  chain: Pick<ChainView, "genesisHash" | "genesisTime" | "header" | "isControlled" | "oldest">,
) {
  if (!chain.isControlled) return { hash: chain.genesisHash, header: { timestamp: chain.genesisTime } };
  const first = await chain.header({ at: (await chain.oldest()).block });
  invariant(first, "a chain has its oldest block");
  return first;
}

function jsonOf(fork: ForkConfig | undefined) {
  if (!fork) return null;
  const { blobSchedule, chainId, precompiles, systemContracts, ...rest } = fork;
  return {
    ...rest,
    blobSchedule: blobSchedule
      ? { ...blobSchedule, baseFeeUpdateFraction: Number(blobSchedule.baseFeeUpdateFraction) }
      : null,
    chainId: toQuantity(chainId),
    precompiles: Object.fromEntries(precompiles),
    systemContracts: Object.fromEntries(systemContracts),
  };
}

/**
 * `eth_capabilities`: the oldest block the node can answer for, by kind of data.
 * @see execution-apis `src/eth/client.yaml`
 */
export const capabilities = defineMethod({
  name: "eth_capabilities",
  params: {},
  result: json,
  handle: (_params, { chain }) =>
    andThen(chain.oldest(), ({ block, state, proof }) =>
      andThen(chain.head(), ({ hash, header }) => ({
        head: { number: toQuantity(header.number), hash },
        state: since(state),
        tx: since(block),
        logs: since(block),
        receipts: since(block),
        blocks: since(block),
        stateproofs: since(proof),
      })),
    ),
});

function since(number: number) {
  return { disabled: false, oldestBlock: toQuantity(number) };
}

/** `eth_syncing`: false, or the progress while the node is behind the chain it follows. */
export const syncing = defineMethod({
  name: "eth_syncing",
  params: {},
  result: rawJsonOf(SYNC_STATUS),
  handle: (_params, { node }) =>
    andThen(node.info(), ({ syncProgress }) => (syncProgress === undefined ? "false" : syncProgressText(syncProgress))),
});

/** `eth_coinbase`: the address that receives the fees of this node's blocks. */
export const coinbase = defineMethod({
  name: "eth_coinbase",
  params: {},
  result: address,
  handle: (_params, { node }) => andThen(node.info(), ({ coinbase }) => coinbase),
});

/** `eth_accounts`: the accounts this node can sign for. */
export const accounts = defineMethod({
  name: "eth_accounts",
  params: {},
  result: array(address),
  handle: (_params, { keys }) => keys.accounts(),
});
