import type { TracerFactory } from "./transaction-tracer.ts";

/** `noopTracer`: runs the transaction and shows nothing. */
export const noopTracer: TracerFactory = () => ({
  hooks: {},
  result: () => "{}",
});
