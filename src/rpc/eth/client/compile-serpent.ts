import { CompilerError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";

/**
 * `eth_compileSerpent`: no compiler for Serpent has been maintained since 2017.
 *
 * @throws CompilerError always
 */
export const compileSerpent = defineMethod({
  name: "eth_compileSerpent",
  params: { source: string },
  result: string,
  handle(): string {
    throw new CompilerError("compiler not available: serpent");
  },
});
