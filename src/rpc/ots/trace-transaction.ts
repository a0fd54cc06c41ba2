import { defineMethod } from "../dispatch/method.ts";
import { hash, rawJson } from "../params/codec.ts";
import { type CallTreeModules, callsOf } from "./call-tree.ts";

/** They pass no ether on. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(["STATICCALL", "DELEGATECALL"]);

/**
 * `ots_traceTransaction`: the frames of a transaction with their depth, in the order they began; null for an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceTransaction = defineMethod({
  name: "ots_traceTransaction",
  params: { transactionHash: hash },
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, modules: CallTreeModules) {
    const calls = await callsOf(transactionHash, modules);
    if (!calls) return "null";
    const frames = calls.map(({ call, depth }) => {
      const { type, from, to = null, value = "0x0", input, output = "0x" } = call;
      return {
        type,
        depth,
        from,
        to,
        value: WITHOUT_VALUE.has(type) ? null : value,
        input,
        output,
      };
    });
    return JSON.stringify(frames);
  },
});
