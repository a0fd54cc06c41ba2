import { callTracer } from "./call-tracer.ts";
import { erc7562Tracer } from "./erc7562-tracer.ts";
import { flatCallTracer } from "./flat-call-tracer.ts";
import { fourByteTracer } from "./four-byte-tracer.ts";
import { createJsTracer } from "./js/js-tracer.ts";
import { NAMED_SCRIPTS } from "./js/named-tracers.ts";
import { createScriptEngines } from "./js/script-engines.ts";
import { keccakPreimageTracer } from "./keccak-preimage-tracer.ts";
import { createMuxTracer } from "./mux-tracer.ts";
import { noopTracer } from "./noop-tracer.ts";
import { parityTracer } from "./parity/parity-tracer.ts";
import { prestateTracer } from "./prestate-tracer.ts";
import type { TracerFactory } from "./transaction-tracer.ts";

/** Finds the tracer that a caller names. */
export type TracerLookup = (tracer: string) => TracerFactory;

/**
 * The tracers of one thread: native ones and those in JavaScript by name; any other text is itself a tracer in JavaScript, as
 * in geth. Making them costs nothing: the JavaScript engine is loaded by the first script.
 */
export function createTracers(options: { readonly scriptMemoryBytesMax: number }): TracerLookup {
  const engines = createScriptEngines({ memoryBytesMax: options.scriptMemoryBytesMax });
  const native: Readonly<Record<string, TracerFactory>> = {
    callTracer,
    erc7562Tracer,
    flatCallTracer,
    prestateTracer,
    "4byteTracer": fourByteTracer,
    noopTracer,
    parityTracer,
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
