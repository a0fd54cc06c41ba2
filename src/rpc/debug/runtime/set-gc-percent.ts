import { defineMethod } from "../../dispatch/method.ts";
import { jsonInteger } from "../../params/codec.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** `debug_setGCPercent`: percent the heap may grow before the next collection, 100 being V8's own pace; the value before. */
export const setGcPercent = defineMethod({
  name: "debug_setGCPercent",
  params: { percent: jsonInteger },
  result: jsonInteger,
  private: true,
  handle: ({ percent }, { runtime }: { runtime: Pick<RuntimePort, "setGcPercent"> }) =>
    runtime.setGcPercent(percent),
});
