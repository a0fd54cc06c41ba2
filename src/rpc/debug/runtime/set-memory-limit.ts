import { defineMethod } from "../../dispatch/method.ts";
import { jsonKind, type ParamCodec, rawJson, typeFault } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** Go's number for no limit, above what a JavaScript number holds exactly. */
const NO_LIMIT = 2n ** 63n - 1n;

const bytes: ParamCodec<number> = {
  schema: { type: "integer" },
  decode(value, field) {
    if (typeof value === "number" && Number.isInteger(value) && value <= Number(NO_LIMIT)) {
      return value;
    }
    throw typeFault(
      typeof value === "number" ? `number ${value}` : jsonKind(value),
      "int64",
      field,
    );
  },
};

/** `debug_setMemoryLimit`: bytes of heap above which garbage is collected at once; the value before. A negative one only reads it. */
export const setMemoryLimit = defineMethod({
  name: "debug_setMemoryLimit",
  params: { limit: bytes },
  result: rawJson,
  private: true,
  handle: ({ limit }, { runtime }: { runtime: Pick<RuntimePort, "setMemoryLimit"> }) => {
    const next = limit >= Number(NO_LIMIT) ? Infinity : limit;
    return andThen(runtime.setMemoryLimit(limit < 0 ? undefined : next), (before) =>
      before === Infinity ? NO_LIMIT.toString() : String(before),
    );
  },
});
