import { delegationTarget } from "../../execution/transaction/authorizations.ts";
import type { Address } from "../../primitives/address.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { resultOf } from "../trace/block-traces.ts";
import { flatten, type TracedCall } from "./call-tree.ts";

/**
 * `ots_getContractCreator`: the transaction that created a contract, and the account that did; null for what is no contract now or is
 * part of genesis.
 *
 * @throws TracingTimeoutError
 */
export const getContractCreator = defineMethod({
  name: "ots_getContractCreator",
  params: { address },
  result: rawJson,
  heavy: true,
  async handle(
    { address },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "head" | "code">;
      execution: Pick<ExecutionPort, "traceBlock">;
    },
  ) {
    const head = (await chain.head()).header.number;
    const code = await chain.code(address, head);
    if (code.length === 0 || delegationTarget(code)) return "null";
    const number = await blockThatCreated(address, head, chain);
    if (number === 0) return "null";
    const traces = await execution.traceBlock(number, { tracer: "callTracer" });
    for (const trace of traces) {
      for (const { call, isReverted } of flatten(JSON.parse(resultOf(trace)) as TracedCall)) {
        const isCreation = call.type === "CREATE" || call.type === "CREATE2";
        if (!isCreation || isReverted || call.to !== address) continue;
        return JSON.stringify({ hash: trace.txHash, creator: call.from });
      }
    }
    return "null";
  },
});

/** By halving: the first block after which there is code, where the contract was created once. */
async function blockThatCreated(
  address: Address,
  head: number,
  chain: Pick<ChainView, "code">,
): Promise<number> {
  let low = -1;
  let high = head;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await chain.code(address, middle)).length > 0) high = middle;
    else low = middle;
  }
  return high;
}
