import { defineMethod } from "../../dispatch/method.ts";
import { array, string } from "../../params/codec.ts";
import type { Compiler } from "../../ports/tools.ts";

/** `eth_getCompilers`: the languages whose compiler loads. */
export const getCompilers = defineMethod({
  name: "eth_getCompilers",
  params: {},
  result: array(string),
  handle: async (_params, { tools }: { tools: Compiler }) =>
    (await tools.compilerVersion()) === undefined ? [] : ["solidity"],
});
