import { defineMethod } from "../dispatch/method.ts";
import { address, boolean, data, json, optional } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { ValidatorVoting } from "./port.ts";

/** `clique_proposals`: the votes this node casts, by candidate: true adds a validator, false drops one. */
export const proposals = defineMethod({
  name: "clique_proposals",
  params: {},
  result: json,
  handle: (_params, { node }: { node: Pick<ValidatorVoting, "cliqueProposals"> }) =>
    node.cliqueProposals(),
});

/**
 * `clique_propose`: votes in the blocks this node proposes that `account` becomes a validator, or is one no longer; until discarded, also
 * after a restart. CometBFT needs the public key of a new validator: it is found in a transaction of the account, or given as third
 * parameter.
 *
 * @throws UnknownPublicKeyError, WrongPublicKeyError, TooManyProposalsError
 */
export const propose = defineMethod({
  name: "clique_propose",
  params: { account: address, authorize: boolean, publicKey: optional(data) },
  result: json,
  private: true,
  handle: (
    { account, authorize, publicKey },
    { node }: { node: Pick<ValidatorVoting, "cliquePropose"> },
  ) => andThen(node.cliquePropose(account, authorize, publicKey), () => null),
});

/** `clique_discard`: casts no more votes about `account`; those in blocks stay. */
export const discard = defineMethod({
  name: "clique_discard",
  params: { account: address },
  result: json,
  private: true,
  handle: ({ account }, { node }: { node: Pick<ValidatorVoting, "cliqueDiscard"> }) =>
    andThen(node.cliqueDiscard(account), () => null),
});
