import { bytesToHex } from "../primitives/hex.ts";
import type { TracerFactory } from "./transaction-tracer.ts";

const SELECTOR_LENGTH = 4;

/** `4byteTracer`: how often each function selector was called, by selector and length of its arguments. */
export const fourByteTracer: TracerFactory = (_config, { precompiles }) => {
  const counts = new Map<string, number>();
  return {
    hooks: {
      onEnter({ type, to, input }) {
        const isCall = type !== "CREATE" && type !== "CREATE2" && type !== "SELFDESTRUCT";
        if (!isCall || input.length < SELECTOR_LENGTH || precompiles.has(to)) return;
        const selector = bytesToHex(input.subarray(0, SELECTOR_LENGTH));
        const key = `${selector}-${input.length - SELECTOR_LENGTH}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      },
    },
    result: () => JSON.stringify(Object.fromEntries(counts)),
  };
};
