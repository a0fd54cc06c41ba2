import { bytesToHex } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import type { TracerFactory } from "./transaction-tracer.ts";

const KECCAK256 = 0x20;

/** `keccak256PreimageTracer`: what each KECCAK256 was given, by hash. */
export const keccakPreimageTracer: TracerFactory = (_config, { budget }) => {
  const preimages = new Map<string, string>();
  return {
    hooks: {
      onStep(step) {
        if (step.opcode !== KECCAK256 || step.halt) return;
        const stack = step.stack();
        const offset = Number(stack.at(-1));
        const size = Number(stack.at(-2));
        // Memory grows for the opcode only when it runs; what is not there yet is 0.
        const preimage = new Uint8Array(size);
        preimage.set(step.memory().subarray(offset, offset + size));
        budget.take(2 * size);
        preimages.set(keccak256Hash(preimage), bytesToHex(preimage));
      },
    },
    result: () => JSON.stringify(Object.fromEntries(preimages)),
  };
};
