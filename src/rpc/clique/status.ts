import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { ValidatorVoting } from "./port.ts";

/**
 * `clique_status`: who proposed the 64 blocks before the head, and how many percent of them were made by the validator whose turn it was:
 * those committed in the first round.
 */
export const status = defineMethod({
  name: "clique_status",
  params: {},
  result: json,
  handle: (_params, { node }: { node: Pick<ValidatorVoting, "cliqueStatus"> }) =>
    node.cliqueStatus(),
});
