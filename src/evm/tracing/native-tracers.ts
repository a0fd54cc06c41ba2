import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { FrameTables } from "./call-frames.ts";
import { createCallTracer } from "./call-tracer.ts";
import { erc7562Tracer } from "./erc7562-tracer.ts";
import { createFlatCallTracer } from "./flat-call-tracer.ts";
import { createJsTracer } from "./js/js-tracer.ts";
import { NAMED_SCRIPTS } from "./js/named-tracers.ts";
import { ScriptEngines } from "./js/quickjs.ts";
import { createMuxTracer } from "./mux-tracer.ts";
import { createParityTracer } from "./parity/parity-tracer.ts";
import { prestateTracer } from "./prestate-tracer.ts";
import type { TracerFactory } from "./tracer-config.ts";

/** Finds the tracer that a caller names. */
export type TracerLookup = (tracer: string) => TracerFactory;

/**
 * The tracers of one thread: native ones and those in JavaScript by name; any other text is itself a tracer in JavaScript, as
 * in geth. Making them costs nothing: the JavaScript engine is loaded by the first script.
 */
export function createTracers(
  options: { readonly scriptMemoryBytesMax: number },
  tables = new FrameTables(),
): TracerLookup {
  const engines = new ScriptEngines(options.scriptMemoryBytesMax);
  const native: Readonly<Record<string, TracerFactory>> = {
    callTracer: createCallTracer(tables),
    erc7562Tracer,
    flatCallTracer: createFlatCallTracer(tables),
    prestateTracer,
    "4byteTracer": fourByteTracer,
    noopTracer,
    parityTracer: createParityTracer(tables),
    keccak256PreimageTracer: keccakPreimageTracer,
    muxTracer: createMuxTracer(lookup),
  };
  function lookup(tracer: string): TracerFactory {
    if (Object.hasOwn(native, tracer)) return native[tracer]!;
    const named = Object.hasOwn(NAMED_SCRIPTS, tracer) ? NAMED_SCRIPTS[tracer] : undefined;
    return createJsTracer(named ?? tracer, engines);
  }
  return lookup;
}

/** `noopTracer`: runs the transaction and shows nothing. */
const noopTracer: TracerFactory = () => ({
  hooks: {},
  result: () => "{}",
});

const SELECTOR_LENGTH = 4;

/** `4byteTracer`: how often each function selector was called, by selector and length of its arguments. */
const fourByteTracer: TracerFactory = (_config, { precompiles }) => {
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

const KECCAK256 = 0x20;

/** `keccak256PreimageTracer`: what each KECCAK256 was given, by hash. */
const keccakPreimageTracer: TracerFactory = (_config, { budget }) => {
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
