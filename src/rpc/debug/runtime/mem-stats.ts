import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** `debug_memStats`: memory of the process in the fields of Go's `runtime.MemStats`; what V8 does not count is 0, and `v8` and `process` have the rest. */
export const memStats = defineMethod({
  name: "debug_memStats",
  params: {},
  result: json,
  handle: (_params, { runtime }: { runtime: Pick<RuntimePort, "memoryStats"> }) =>
    runtime.memoryStats(),
});
