import { NoMiningWorkError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";

/**
 * `eth_getWork`: no block waits for work.
 *
 * @throws NoMiningWorkError always
 */
export const getWork = defineMethod({
  name: "eth_getWork",
  params: {},
  result: string,
  handle(): string {
    throw new NoMiningWorkError();
  },
});
