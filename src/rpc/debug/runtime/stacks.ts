import { defineMethod } from "../../dispatch/method.ts";
import { optional, string } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { RuntimePort } from "../../ports/runtime.ts";
import { parseStackFilter } from "./stack-filter.ts";

/** `debug_stacks`: the stacks of the process that pass a filter such as `rpc && !server`; nothing for a filter that cannot be read, as in geth. */
export const stacks = defineMethod({
  name: "debug_stacks",
  params: { filter: optional(string) },
  result: string,
  handle: ({ filter }, { runtime }: { runtime: Pick<RuntimePort, "stacks"> }) =>
    andThen(runtime.stacks(), (all) => {
      if (filter === undefined || filter === "") return all;
      const matches = parseStackFilter(filter);
      if (matches === undefined) return "";
      const chosen = all.split("\n\n").filter((stack) => stack !== "" && matches(stack));
      return chosen.map((stack) => `${stack}\n\n`).join("");
    }),
});
