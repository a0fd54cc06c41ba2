import { hardforkAt } from "../../../base/params/hardforks.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { blockReward } from "../../../evm/execution/block/rewards.ts";
import { type BlockNumberOrTag, blockNumberOrTag, blockSelector, byHash } from "../../ports/block-selector.ts";
import type { ChainConstants } from "../../ports/chain-view.ts";
import { minedReceipts, minedTransactionOf } from "../../ports/mined.ts";
import {
  address,
  boolean,
  hash,
  jsonInteger,
  lenientInteger,
  optional,
  type ParamCodec,
  rawJson,
} from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { blockTextWith } from "../json/block-json.ts";
import { receiptText } from "../json/receipt-json.ts";
import { minedTransactionText } from "../json/transaction-json.ts";
import { quantityText } from "../json/write.ts";
import type { RpcSettings } from "../rpc-ports.ts";
import type { Sessions } from "../sessions.ts";

/** Otterscan compares it with the version it needs. */
const API_LEVEL = 8;

/** `ots_getApiLevel`: the version of the `ots` API this node implements. */
export const getApiLevel = defineMethod({
  name: "ots_getApiLevel",
  params: {},
  result: jsonInteger,
  handle: () => API_LEVEL,
});

/**
 * `ots_hasCode`: whether an account has code in the state after `block`.
 *
 * @throws UnknownBlockError
 */
export const hasCode = defineMethod({
  name: "ots_hasCode",
  params: { address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.bob, "latest"],
  result: boolean,
  handle: ({ address, block }, { chain }) => andThen(chain.code({ address, at: block }), (code) => code.length > 0),
});

/** A block number as JSON number, which Otterscan sends, or as QUANTITY or tag. The pending block counts as the newest. */
const otsBlockNumber: ParamCodec<Exclude<BlockNumberOrTag, "pending">> = {
  schema: blockNumberOrTag.schema ?? {},
  decode(value, field) {
    const block =
      typeof value === "number" ? lenientInteger.decode(value, field) : blockNumberOrTag.decode(value, field);
    return block === "pending" ? "latest" : block;
  },
};

/** @throws InvalidParamsError unless a page of `size` may be requested */
export function assertPageSize(size: number, { otsPageSizeMax }: Pick<RpcSettings, "otsPageSizeMax">): void {
  if (size >= 1 && size <= otsPageSizeMax) return;
  throw new InvalidParamsError(`page size must be 1 to ${otsPageSizeMax}`, "pageSize");
}

type BlockObject = Record<string, unknown> & { readonly transactions: readonly unknown[] };

/**
 * The block as `eth_getBlockByNumber` shows it, with the number of its transactions and without its bloom filter.
 * @param transactions texts of those to show
 */
function blockObject(
  executed: ExecutedBlock,
  transactions: readonly string[],
  { blockJson }: Pick<Sessions, "blockJson">,
): BlockObject {
  const object = JSON.parse(blockTextWith(executed, transactions.join(","), blockJson.style)) as BlockObject;
  const transactionCount = executed.block.transactions.length;
  return { ...object, logsBloom: null, transactionCount };
}

/** `{block, issuance, totalFees}` of a block. */
function blockDetails(
  executed: ExecutedBlock,
  { config }: Pick<ChainConstants, "config">,
  sessions: Pick<Sessions, "blockJson">,
): string {
  const { transactions: _, ...block } = blockObject(executed, [], sessions);
  const { header, uncles } = executed.block;
  const reward = header.number === 0 ? 0n : blockReward(hardforkAt(config, header), header.difficulty);
  const inclusion = (reward / 32n) * BigInt(uncles.length);
  const uncleReward = uncles.reduce((sum, { number }) => sum + (reward * BigInt(number + 8 - header.number)) / 8n, 0n);
  const minerReward = reward + inclusion;
  const fees = executed.receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
  return (
    `{"block":${JSON.stringify(block)},"issuance":{"blockReward":${quantityText(minerReward)}` +
    `,"uncleReward":${quantityText(uncleReward)},"issuance":${quantityText(minerReward + uncleReward)}}` +
    `,"totalFees":${quantityText(fees)}}`
  );
}

/** `ots_getBlockDetails`: a block without its transactions, with its issuance and total fees; null beyond the head. */
export const getBlockDetails = defineMethod({
  name: "ots_getBlockDetails",
  params: { block: otsBlockNumber },
  example: [0],
  result: rawJson,
  handle: ({ block }, { chain, sessions }) =>
    andThen(chain.block({ at: block }), (executed) => (executed ? blockDetails(executed, chain, sessions) : "null")),
});

/** `ots_getBlockDetailsByHash`: as `ots_getBlockDetails`, for a block hash; null for an unknown block. */
export const getBlockDetailsByHash = defineMethod({
  name: "ots_getBlockDetailsByHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  handle: ({ blockHash }, { chain, sessions }) =>
    andThen(chain.block({ at: byHash(blockHash) }), (executed) =>
      executed ? blockDetails(executed, chain, sessions) : "null",
    ),
});

/** `0x` and a function selector. */
const SELECTOR_CHARS = 10;

/**
 * `ots_getBlockTransactions`: a page of a block's transactions with the first four bytes of their input, and their receipts without
 * logs. Page 0 holds the last transactions of the block; null beyond the head.
 *
 * @throws InvalidParamsError for a page that is too large
 */
export const getBlockTransactions = defineMethod({
  name: "ots_getBlockTransactions",
  params: { block: otsBlockNumber, pageNumber: lenientInteger, pageSize: lenientInteger },
  example: [0, 0, 25],
  result: rawJson,
  async handle({ block, pageNumber, pageSize }, { chain, sessions, settings }) {
    assertPageSize(pageSize, settings);
    const executed = await chain.block({ at: block });
    if (!executed) return "null";
    const end = Math.max(0, executed.block.transactions.length - pageNumber * pageSize);
    const start = Math.max(0, end - pageSize);
    const page: string[] = [];
    for (let index = start; index < end; index++) page.push(minedTransactionText(minedTransactionOf(executed, index)));
    const { transactions, ...rest } = blockObject(executed, page, sessions);
    const shown = transactions as readonly { readonly input: string }[];
    const cut = shown.map((tx) => ({ ...tx, input: tx.input.slice(0, SELECTOR_CHARS) }));
    const receipts = minedReceipts(executed)
      .slice(start, end)
      .map((mined) => ({ ...JSON.parse(receiptText(mined)), logs: null, logsBloom: null }));
    return JSON.stringify({ fullblock: { ...rest, transactions: cut }, receipts });
  },
});
