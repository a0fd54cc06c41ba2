import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";

/** `rpc_modules`: the namespaces enabled where the caller came in, each with version "1.0". */
export const modules = defineMethod({
  name: "rpc_modules",
  params: {},
  result: json,
  handle: (_params, _modules: unknown, { access }) =>
    Object.fromEntries(
      [...new Set([...access.namespaces, "rpc"])].sort().map((name) => [name, "1.0"]),
    ),
});
