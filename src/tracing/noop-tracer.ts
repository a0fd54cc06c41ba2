import type { TracerFactory } from "./transaction-tracer.ts";

/** `noopTracer`: runs the transaction and tells nothing. */
export const noopTracer: TracerFactory = () => ({
  ignoresState: true,
  hooks: {},
  result: () => "{}",
});
