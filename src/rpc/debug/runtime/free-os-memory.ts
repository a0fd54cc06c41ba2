import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** `debug_freeOSMemory`: collects garbage now. */
export const freeOsMemory = defineMethod({
  name: "debug_freeOSMemory",
  params: {},
  result: json,
  private: true,
  heavy: true,
  handle: (_params, { runtime }: { runtime: Pick<RuntimePort, "collectGarbage"> }) =>
    andThen(runtime.collectGarbage(), () => null),
});
