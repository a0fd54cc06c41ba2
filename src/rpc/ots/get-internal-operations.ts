import { defineMethod } from "../dispatch/method.ts";
import { hash, rawJson } from "../params/codec.ts";
import { type CallTreeModules, callsOf } from "./call-tree.ts";

/** Otterscan's numbers. */
const TYPES: Readonly<Record<string, number>> = { CALL: 0, SELFDESTRUCT: 1, CREATE: 2, CREATE2: 3 };

/**
 * `ots_getInternalOperations`: transfers of ether, creations and self-destructions inside a transaction that were not reverted; null for
 * an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const getInternalOperations = defineMethod({
  name: "ots_getInternalOperations",
  params: { transactionHash: hash },
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, modules: CallTreeModules) {
    const calls = await callsOf(transactionHash, modules);
    if (!calls) return "null";
    const operations = calls.flatMap(({ call, depth, isReverted }) => {
      const { from, to, value = "0x0" } = call;
      const type = TYPES[call.type];
      const isTransfer = type !== TYPES["CALL"] || value !== "0x0";
      if (depth === 0 || isReverted || type === undefined || !isTransfer) return [];
      return [{ type, from, to, value }];
    });
    return JSON.stringify(operations);
  },
});
