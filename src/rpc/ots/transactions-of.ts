import { setImmediate } from "node:timers/promises";
import type { AddressBlock, AddressQuery } from "../../chain/addresses/address-index.ts";
import { UNKNOWN_INDEX } from "../../chain/addresses/block-addresses.ts";
import type { Address } from "../../primitives/address.ts";
import { RequestTimeoutError } from "../dispatch/errors.ts";
import type { CancelToken } from "../ports/cancel-token.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { resultOf } from "../trace/block-traces.ts";
import { flatten, type TracedCall } from "./call-tree.ts";

export type AddressSearchModules = {
  readonly chain: Pick<ChainView, "addressPage">;
  readonly execution: Pick<ExecutionPort, "traceBlock">;
};

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
  { chain, execution }: AddressSearchModules,
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
    const bound =
      query.order === "newestFirst" ? { to: last.number - 1 } : { from: last.number + 1 };
    rest = { ...rest, ...bound };
  }
}

/** Ascending. */
async function tracedIndexes(
  { number, entries }: AddressBlock,
  address: Address,
  execution: Pick<ExecutionPort, "traceBlock">,
): Promise<readonly number[]> {
  const indexes = new Set(
    entries.map(({ index }) => index).filter((index) => index !== UNKNOWN_INDEX),
  );
  const traces = await execution.traceBlock(number, { tracer: "callTracer" });
  for (const [index, trace] of traces.entries()) {
    const calls = [...flatten(JSON.parse(resultOf(trace)) as TracedCall)];
    if (calls.some(({ call: { from, to } }) => from === address || to === address))
      indexes.add(index);
  }
  return [...indexes].sort((a, b) => a - b);
}
