import { callTracer } from "./call-tracer.ts";
import { InvalidTracerError } from "./errors.ts";
import { flatCallTracer } from "./flat-call-tracer.ts";
import { fourByteTracer } from "./four-byte-tracer.ts";
import { keccakPreimageTracer } from "./keccak-preimage-tracer.ts";
import { createMuxTracer } from "./mux-tracer.ts";
import { noopTracer } from "./noop-tracer.ts";
import { parityTracer } from "./parity/parity-tracer.ts";
import { prestateTracer } from "./prestate-tracer.ts";
import type { TracerFactory } from "./transaction-tracer.ts";

/** The tracers a caller may name. */
const TRACERS: Readonly<Record<string, TracerFactory>> = {
  callTracer,
  flatCallTracer,
  prestateTracer,
  "4byteTracer": fourByteTracer,
  noopTracer,
  parityTracer,
  keccak256PreimageTracer: keccakPreimageTracer,
  muxTracer: createMuxTracer(tracerNamed),
};

/** @throws InvalidTracerError when there is none of that name */
export function tracerNamed(name: string): TracerFactory {
  const tracer = Object.hasOwn(TRACERS, name) ? TRACERS[name] : undefined;
  if (!tracer) throw new InvalidTracerError(`tracer not found: ${name}`);
  return tracer;
}
