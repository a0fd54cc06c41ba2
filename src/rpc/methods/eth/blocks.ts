import { NodeError } from "../../../base/errors.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { decodeBlockAccessList } from "../../../base/types/block-access-list.ts";
import { EMPTY_UNCLES_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import {
  type BlockNumberOrTag,
  type BlockSelector,
  blockNumberOrTag,
  blockSelector,
  byHash,
} from "../../ports/block-selector.ts";
import { boolean, hash, type JsonText, nullable, quantityNumber, rawJsonOf } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { accountAccessText } from "../json/access-list-json.ts";
import { uncleTextAt } from "../json/block-json.ts";
import { listInSteps } from "../json/list-in-steps.ts";
import { ACCOUNT_ACCESS, BLOCK, HEADER, listOf, orNull, RECEIPT, UNCLE } from "../json/schemas.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/** `eth_blockNumber`: number of the newest block. */
export const blockNumber = defineMethod({
  name: "eth_blockNumber",
  params: {},
  result: quantityNumber,
  handle: (_params, { chain }) => andThen(chain.head(), ({ header }) => header.number),
});

/** `eth_getBlockByNumber`: the block with transaction hashes, or full transactions if `isFull`; null beyond the head. */
export const getBlockByNumber = defineMethod({
  name: "eth_getBlockByNumber",
  params: { block: blockNumberOrTag, isFull: boolean },
  example: ["latest", false],
  result: rawJsonOf(orNull(BLOCK)),
  handle: ({ block, isFull }, { chain, sessions: { blockJson } }) =>
    andThen(chain.block({ at: block }), (executed) => {
      if (!executed) return "null";
      if (block === "pending") return blockJson.pendingText(executed, isFull);
      return blockJson.get(executed, isFull ? "full" : "hashes");
    }),
});

/** `eth_getBlockByHash`: the block with transaction hashes, or full transactions if `isFull`; null if unknown. */
export const getBlockByHash = defineMethod({
  name: "eth_getBlockByHash",
  params: { blockHash: hash, isFull: boolean },
  example: [SAMPLE.hash, true],
  result: rawJsonOf(orNull(BLOCK)),
  handle: ({ blockHash, isFull }, { chain, sessions }) =>
    andThen(chain.block({ at: byHash(blockHash) }), (executed) =>
      executed ? sessions.blockJson.get(executed, isFull ? "full" : "hashes") : "null",
    ),
});

/** `eth_getHeaderByNumber`: the block's header; null beyond the head and for the pending block, which has no header yet. */
export const getHeaderByNumber = defineMethod({
  name: "eth_getHeaderByNumber",
  params: { block: blockNumberOrTag },
  example: ["latest"],
  result: rawJsonOf(orNull(HEADER)),
  handle: ({ block }, modules) => headerText(block, modules),
});

export function headerText(
  block: BlockNumberOrTag,
  { chain, sessions: { blockJson } }: ServingPorts,
): MaybePromise<JsonText> {
  if (block === "pending") return "null";
  return andThen(chain.header({ at: block }), (sealed) => (sealed ? blockJson.header(sealed) : "null"));
}

/** `eth_getHeaderByHash`: the block's header; null when unknown. */
export const getHeaderByHash = defineMethod({
  name: "eth_getHeaderByHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: rawJsonOf(orNull(HEADER)),
  handle: ({ blockHash }, { chain, sessions }) =>
    andThen(chain.header({ at: byHash(blockHash) }), (sealed) => (sealed ? sessions.blockJson.header(sealed) : "null")),
});

/**
 * `eth_getBlockReceipts`: every receipt of the block; null for an unknown block.
 *
 * @throws BlockNotCanonicalError
 */
export const getBlockReceipts = defineMethod({
  name: "eth_getBlockReceipts",
  params: { block: blockSelector },
  example: ["latest"],
  result: rawJsonOf(orNull(listOf(RECEIPT))),
  handle: ({ block }, { chain, sessions: { blockJson } }) =>
    andThen(chain.block({ at: block }), (executed) => {
      if (!executed) return "null";
      return block === "pending" ? blockJson.pendingReceipts(executed) : blockJson.get(executed, "receipts");
    }),
});

/** The block is older than Amsterdam, and has no access list. */
export class NoBlockAccessListError extends NodeError {
  readonly code = "RPC_NO_BLOCK_ACCESS_LIST";
  constructor() {
    super("Resource not found");
  }
}

/**
 * `eth_getBlockAccessList`: the accounts and slots that a block accessed, with their values after each change (EIP-7928); null for an
 * unknown block and the pending one. Index 0 stands for system calls before the transactions, i + 1 for transaction i.
 *
 * @throws NoBlockAccessListError, BlockPrunedError, BlockNotCanonicalError
 */
export const getBlockAccessList = defineMethod({
  name: "eth_getBlockAccessList",
  params: { block: blockSelector },
  example: ["latest"],
  result: rawJsonOf(orNull(listOf(ACCOUNT_ACCESS))),
  handle: ({ block }, { chain, sessions }) =>
    andThen(chain.accessList({ at: block }), (list) => {
      if (list === undefined) return "null";
      if (list === null) throw new NoBlockAccessListError();
      return inSlices(listInSteps(decodeBlockAccessList(list), accountAccessText), sessions.slices.json);
    }),
});

/** `eth_getBlockTransactionCountByNumber`: number of transactions in the block; null beyond the head. */
export const getBlockTransactionCountByNumber = defineMethod({
  name: "eth_getBlockTransactionCountByNumber",
  params: { block: blockNumberOrTag },
  example: ["latest"],
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }) => andThen(chain.transactionCount({ at: block }), (count) => count ?? null),
});

/** `eth_getBlockTransactionCountByHash`: number of transactions in the block; null if unknown. */
export const getBlockTransactionCountByHash = defineMethod({
  name: "eth_getBlockTransactionCountByHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }) =>
    andThen(chain.transactionCount({ at: byHash(blockHash) }), (count) => count ?? null),
});

/** The uncles of a block, which is not read if its header has no uncles; undefined if the block does not exist. */
function unclesAt(at: BlockSelector, chain: ServingPorts["chain"]): MaybePromise<readonly Header[] | undefined> {
  return andThen(chain.header({ at }), (sealed) => {
    if (sealed === undefined || sealed.header.sha3Uncles === EMPTY_UNCLES_HASH) return sealed && [];
    return andThen(chain.block({ at }), (executed) => executed?.block.uncles);
  });
}

/** `eth_getUncleCountByBlockHash`: number of uncles, which only imported proof-of-work blocks have; null for an unknown block. */
export const getUncleCountByBlockHash = defineMethod({
  name: "eth_getUncleCountByBlockHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }) => andThen(unclesAt(byHash(blockHash), chain), (uncles) => uncles?.length ?? null),
});

/** `eth_getUncleCountByBlockNumber`: number of uncles, which only imported proof-of-work blocks have; null for an unknown block. */
export const getUncleCountByBlockNumber = defineMethod({
  name: "eth_getUncleCountByBlockNumber",
  params: { block: blockNumberOrTag },
  example: ["latest"],
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }) => andThen(unclesAt(block, chain), (uncles) => uncles?.length ?? null),
});

/** `eth_getUncleByBlockHashAndIndex`: an uncle's header as a block without transactions; null if there is no such uncle. */
export const getUncleByBlockHashAndIndex = defineMethod({
  name: "eth_getUncleByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  example: [SAMPLE.hash, "0x0"],
  result: rawJsonOf(orNull(UNCLE)),
  handle: ({ blockHash, index }, { chain, sessions }) =>
    andThen(unclesAt(byHash(blockHash), chain), (uncles) => uncleTextAt(uncles, index, sessions.blockJson.style)),
});

/** `eth_getUncleByBlockNumberAndIndex`: an uncle's header as a block without transactions; null if there is no such uncle. */
export const getUncleByBlockNumberAndIndex = defineMethod({
  name: "eth_getUncleByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  example: ["latest", "0x0"],
  result: rawJsonOf(orNull(UNCLE)),
  handle: ({ block, index }, { chain, sessions }) =>
    andThen(unclesAt(block, chain), (uncles) => uncleTextAt(uncles, index, sessions.blockJson.style)),
});
