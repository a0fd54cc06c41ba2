import { setImmediate } from "node:timers/promises";
import type { Address } from "../../../base/primitives/address.ts";
import type { CancelToken } from "../../../base/threads/cancel-token.ts";
import { StepWork } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { AddressBlock, AddressQuery } from "../../../chain/addresses/address-index.ts";
import { UNKNOWN_INDEX } from "../../../chain/records/block-addresses.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { ExecutionPort } from "../../ports/execution.ts";
import { address, hash, type JsonText, lenientInteger, nullable, rawJson } from "../../transport/codec.ts";
import { RequestTimeoutError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { receiptText } from "../json/receipt-json.ts";
import { minedTransactionText } from "../json/transaction-json.ts";
import { joinedJson } from "../json/write.ts";
import type { JsonSessions } from "../sessions.ts";
import { resultOf } from "../trace/blocks.ts";
import { assertPageSize } from "./blocks.ts";
import { flatten, type TracedCall } from "./traces.ts";

/**
 * `{txs, receipts, firstPage, lastPage}`; each receipt has the time of its block.
 * @param newestFirst the transactions of the page
 */
export async function searchResult(
  newestFirst: readonly Position[],
  pages: { readonly firstPage: boolean; readonly lastPage: boolean },
  { chain, sessions }: JsonSessions & { readonly chain: Pick<ChainView, "transactionAt" | "receipt"> },
): Promise<JsonText> {
  const txs: JsonText[] = [];
  const receipts: JsonText[] = [];
  const work = new StepWork();
  const slices = sessions.slices.json;
  for (const { number, index } of newestFirst) {
    const mined = await chain.transactionAt({ at: number, index });
    const receipt = mined && (await chain.receipt({ hash: mined.tx.hash }));
    // Rolled back since.
    if (!receipt) continue;
    const comma = txs.length === 0 ? "" : ",";
    const tx = Buffer.from(`${comma}${minedTransactionText(mined)}`);
    const { blockTimestamp } = mined.position;
    const shown = Buffer.from(`${comma}${receiptText(receipt).slice(0, -1)},"timestamp":${blockTimestamp}}`);
    txs.push(tx);
    receipts.push(shown);
    if (work.add(tx.length + shown.length) && slices.isOver()) await slices.next();
  }
  const end = `],"firstPage":${pages.firstPage},"lastPage":${pages.lastPage}}`;
  return joinedJson('{"txs":[', ...txs, '],"receipts":[', ...receipts, end);
}

/** Where a transaction is. */
export type Position = { readonly number: number; readonly index: number };

/**
 * At least `transactionsMin` transactions that have to do with an address, in the order of the query, unless there are fewer. Where
 * the index knows only that a block changed the account, its execution shows by which transactions.
 *
 * @throws AddressIndexOffError, AddressIndexBuildingError, TracingTimeoutError, RequestTimeoutError
 */
export async function transactionsOf(
  query: AddressQuery,
  {
    chain,
    execution,
  }: { readonly chain: Pick<ChainView, "addressPage">; readonly execution: Pick<ExecutionPort, "traceBlock"> },
  cancel: Pick<CancelToken, "isAborted">,
): Promise<{ readonly found: readonly Position[]; readonly isMore: boolean }> {
  const found: Position[] = [];
  let rest = query;
  for (;;) {
    const { blocks, isMore } = await chain.addressPage({
      ...rest,
      transactionsMin: query.transactionsMin - found.length,
    });
    for (const block of blocks) {
      const isKnown = block.entries.every(({ index }) => index !== UNKNOWN_INDEX);
      if (!isKnown) {
        // Other work has its turn before a block is executed.
        await setImmediate();
        if (cancel.isAborted) throw new RequestTimeoutError();
      }
      const indexes = isKnown
        ? block.entries.map(({ index }) => index)
        : await tracedIndexes(block, query.address, execution);
      const inOrder = query.order === "newestFirst" ? [...indexes].reverse() : indexes;
      found.push(...inOrder.map((index) => ({ number: block.number, index })));
    }
    const last = blocks.at(-1);
    if (!isMore || !last || found.length >= query.transactionsMin) return { found, isMore };
    const bound = query.order === "newestFirst" ? { to: last.number - 1 } : { from: last.number + 1 };
    rest = { ...rest, ...bound };
  }
}

/** Ascending. */
async function tracedIndexes(
  { number, entries }: AddressBlock,
  address: Address,
  execution: Pick<ExecutionPort, "traceBlock">,
): Promise<readonly number[]> {
  const indexes = new Set(entries.map(({ index }) => index).filter((index) => index !== UNKNOWN_INDEX));
  const traces = await execution.traceBlock({ at: number, request: { tracer: "callTracer" } });
  for (const [index, trace] of traces.entries()) {
    const calls = [...flatten(JSON.parse(resultOf(trace)) as TracedCall)];
    if (calls.some(({ call: { from, to } }) => from === address || to === address)) indexes.add(index);
  }
  return [...indexes].sort((a, b) => a - b);
}

/**
 * `ots_searchTransactionsBefore`: transactions that involve an address, in blocks before `block` (0: from the newest block), newest first.
 * A page holds at least `pageSize` transactions, because blocks are not split.
 *
 * @throws InvalidParamsError, AddressIndexOffError, AddressIndexBuildingError
 */
export const searchTransactionsBefore = defineMethod({
  name: "ots_searchTransactionsBefore",
  params: { address, block: lenientInteger, pageSize: lenientInteger },
  example: [SAMPLE.alice, 0, 25],
  result: rawJson,
  heavy: true,
  async handle({ address, block, pageSize }, modules, context) {
    assertPageSize(pageSize, modules.settings);
    const to = block === 0 ? Number.MAX_SAFE_INTEGER : block - 1;
    const { found, isMore } = await transactionsOf(
      { address, from: 0, to, order: "newestFirst", transactionsMin: pageSize },
      modules,
      context,
    );
    return searchResult(found, { firstPage: block === 0, lastPage: !isMore }, modules);
  },
});

/**
 * `ots_searchTransactionsAfter`: as `ots_searchTransactionsBefore`, but in the next blocks after `block` (0: from genesis), newest first.
 *
 * @throws InvalidParamsError, AddressIndexOffError, AddressIndexBuildingError
 */
export const searchTransactionsAfter = defineMethod({
  name: "ots_searchTransactionsAfter",
  params: { address, block: lenientInteger, pageSize: lenientInteger },
  example: [SAMPLE.alice, 0, 25],
  result: rawJson,
  heavy: true,
  async handle({ address, block, pageSize }, modules, context) {
    assertPageSize(pageSize, modules.settings);
    const { found, isMore } = await transactionsOf(
      {
        address,
        from: block === 0 ? 0 : block + 1,
        to: Number.MAX_SAFE_INTEGER,
        order: "oldestFirst",
        transactionsMin: pageSize,
      },
      modules,
      context,
    );
    const newestFirst = [...found].reverse();
    return searchResult(newestFirst, { firstPage: !isMore, lastPage: block === 0 }, modules);
  },
});

/** `ots_getTransactionBySenderAndNonce`: hash of the mined transaction of `sender` with that nonce; null if none. */
export const getTransactionBySenderAndNonce = defineMethod({
  name: "ots_getTransactionBySenderAndNonce",
  params: { sender: address, nonce: lenientInteger },
  example: [SAMPLE.alice, 0],
  result: nullable(hash),
  handle: ({ sender, nonce }, { chain }) =>
    andThen(chain.transactionBySender({ sender, nonce: BigInt(nonce) }), ({ mined }) => mined?.tx.hash ?? null),
});
