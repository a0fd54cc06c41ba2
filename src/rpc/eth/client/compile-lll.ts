import { CompilerError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";

/**
 * `eth_compileLLL`: no compiler for LLL has been maintained since 2020.
 *
 * @throws CompilerError always
 */
export const compileLLL = defineMethod({
  name: "eth_compileLLL",
  params: { source: string },
  result: string,
  handle(): string {
    throw new CompilerError("compiler not available: lll");
  },
});
