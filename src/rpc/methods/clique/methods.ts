import { NodeError } from "../../../base/errors.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../../base/primitives/rlp.ts";
import { type BlockSelector, blockNumberOrTag, blockSelector, byHash } from "../../ports/block-selector.ts";
import type { CliqueSnapshot } from "../../ports/voting.ts";
import {
  address,
  boolean,
  data,
  hash,
  json,
  jsonUnsigned,
  nothing,
  optional,
  type ParamCodec,
  string,
} from "../../transport/codec.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import type { ServingPorts } from "../rpc-ports.ts";

const block = optional(blockNumberOrTag, "latest");

/** `clique_getSnapshot`: the validators after a block and the open votes on candidates. @throws UnknownBlockError, BlockPrunedError */
export const getSnapshot = defineMethod({
  name: "clique_getSnapshot",
  params: { block },
  example: ["latest"],
  result: json,
  handle: ({ block }, modules) => snapshotAt(block, modules),
});

/** `clique_getSnapshotAtHash`: validators and votes after the block with this hash. */
export const getSnapshotAtHash = defineMethod({
  name: "clique_getSnapshotAtHash",
  params: { hash },
  example: [SAMPLE.hash],
  result: json,
  handle: ({ hash }, modules) => snapshotAt(byHash(hash), modules),
});

/** `clique_getSigners`: the addresses of the validators after a block, ascending. */
export const getSigners = defineMethod({
  name: "clique_getSigners",
  params: { block },
  example: ["latest"],
  result: json,
  handle: async ({ block }, modules) => signersOf(await snapshotAt(block, modules)),
});

/** `clique_getSignersAtHash`: the validators after the block with this hash. */
export const getSignersAtHash = defineMethod({
  name: "clique_getSignersAtHash",
  params: { hash },
  example: [SAMPLE.hash],
  result: json,
  handle: async ({ hash }, modules) => signersOf(await snapshotAt(byHash(hash), modules)),
});

async function snapshotAt(at: BlockSelector, { chain, node }: ServingPorts): Promise<CliqueSnapshot> {
  return node.cliqueSnapshot({ number: await numberOf(at, chain) });
}

/** The votes of a pending block are not counted yet, and nobody has signed it. */
async function numberOf(at: BlockSelector, chain: ServingPorts["chain"], missing = "unknown block"): Promise<number> {
  const sealed = await chain.header({ at: at === "pending" ? "latest" : at });
  if (sealed === undefined) throw new UnknownBlockError(missing);
  return sealed.header.number;
}

function signersOf({ signers }: CliqueSnapshot): readonly Address[] {
  return Object.keys(signers) as Address[];
}

/** A hash with its prefix. A longer text is RLP. */
const HASH_CHARACTERS = 66;

/** The bytes are neither a header nor a block. */
class HeaderRlpError extends NodeError {
  readonly code = "CLIQUE_HEADER_RLP";
}

/** A block selector, or the RLP of a header or a block. */
const selectorOrRlp: ParamCodec<BlockSelector> = {
  schema: { title: "block, or RLP of a header or block", type: "string" },
  decode(value, field) {
    return typeof value === "string" && value.length > HASH_CHARACTERS
      ? byHash(hashOfRlp(data.decode(value, field)))
      : blockSelector.decode(value, field);
  },
};

/**
 * `clique_getSigner`: the validator that proposed a block.
 *
 * @throws UnknownBlockError, HeaderRlpError
 */
export const getSigner = defineMethod({
  name: "clique_getSigner",
  params: { block: selectorOrRlp },
  example: ["latest"],
  result: address,
  async handle({ block }, { chain, node }) {
    const missing = `missing block ${typeof block === "object" ? block.blockHash : block}`;
    return node.cliqueSigner({ number: await numberOf(block, chain, missing) });
  },
});

function hashOfRlp(bytes: Uint8Array) {
  let item: ReturnType<typeof decodeRlp>;
  try {
    item = decodeRlp(bytes);
  } catch (cause) {
    throw new HeaderRlpError("rlp: not a header or block", {}, { cause });
  }
  if (item instanceof Uint8Array) throw new HeaderRlpError("rlp: expected input list");
  const [first] = item;
  // A block begins with its header, which is a list; a header begins with the parent's hash.
  return keccak256Hash(first instanceof Uint8Array ? bytes : encodeRlp(first ?? []));
}

/** `clique_proposals`: the votes this node casts, by candidate: true adds a validator, false drops one. */
export const proposals = defineMethod({
  name: "clique_proposals",
  params: {},
  result: json,
  handle: (_params, { node }) => node.cliqueProposals(),
});

/**
 * `clique_propose`: votes, in each block this node proposes, to add or remove `account` as a validator. The vote stands until discarded,
 * across restarts. CometBFT needs a new validator's public key: the node recovers it from a transaction of the account, or takes the third
 * parameter.
 *
 * @throws UnknownPublicKeyError, WrongPublicKeyError, TooManyProposalsError
 */
export const propose = defineMethod({
  name: "clique_propose",
  params: { account: address, authorize: boolean, publicKey: optional(data) },
  result: nothing,
  private: true,
  handle: ({ account, authorize, publicKey }, { node }) =>
    node.cliquePropose({ candidate: account, authorize, publicKey }),
});

/** `clique_discard`: stops voting on `account`; votes already in blocks stay. */
export const discard = defineMethod({
  name: "clique_discard",
  params: { account: address },
  result: nothing,
  private: true,
  handle: ({ account }, { node }) => node.cliqueDiscard({ candidate: account }),
});

/**
 * `clique_parameters`: the rules in force after a block, the open votes, the rules about which votes differ, and this node's own votes. Not in
 * geth.
 *
 * @throws UnknownBlockError, BlockPrunedError
 */
export const parameters = defineMethod({
  name: "clique_parameters",
  params: { block },
  example: ["latest"],
  result: json,
  handle: async ({ block }, { chain, node }) => node.cliqueParameters({ number: await numberOf(block, chain) }),
});

/**
 * `clique_proposeParameter`: votes for a rule of the chain in each block this node proposes, until discarded, across restarts. More than
 * half of the validators decide; the rule applies from the next block.
 *
 * - `gasLimit`: target of the block gas limit
 * - `minimumTip`: minimum tip per gas of a transaction, in wei
 * - `blockPeriodMs`: time between blocks
 * - `evidenceAgeSeconds`: how long evidence of misbehaviour is valid
 *
 * 0 ends the agreement, so that each node's own setting applies again; for `minimumTip`, 0 is a value. Not in geth.
 *
 * @throws ParameterRefusedError, TooManyParameterProposalsError
 */
export const proposeParameter = defineMethod({
  name: "clique_proposeParameter",
  params: { name: string, value: jsonUnsigned },
  result: nothing,
  private: true,
  handle: ({ name, value }, { node }) => node.cliqueProposeParameter({ name, value }),
});

/**
 * `clique_proposeFork`: votes for the time of a fork, in Unix seconds: `osaka`, `bpo1`. The time must be at least 30 s after the deciding
 * block and keep the order of forks; 0 cancels a fork that has not started. A node whose software does not know the fork stops before it.
 * Not in geth.
 *
 * @throws ParameterRefusedError, TooManyParameterProposalsError
 */
export const proposeFork = defineMethod({
  name: "clique_proposeFork",
  params: { fork: string, time: jsonUnsigned },
  result: nothing,
  private: true,
  handle: ({ fork, time }, { node }) => node.cliqueProposeParameter({ name: `${fork}Time`, value: time }),
});

/**
 * `clique_discardParameter`: stops voting on a rule, or on a fork given by its genesis field (`osakaTime`); votes already in blocks stay.
 */
export const discardParameter = defineMethod({
  name: "clique_discardParameter",
  params: { name: string },
  result: nothing,
  private: true,
  handle: ({ name }, { node }) => node.cliqueDiscardParameter({ name }),
});

/**
 * `clique_status`: the proposers of the 64 blocks before the head, and the percentage made by the validator whose turn it was, that is,
 * committed in the first round.
 */
export const status = defineMethod({
  name: "clique_status",
  params: {},
  result: json,
  handle: (_params, { node }) => node.cliqueStatus(),
});

/** This chain runs the solo engine, so no validators sign its blocks. */
export class NoSignaturesError extends NodeError {
  readonly code = "CLIQUE_NO_SIGNATURES";
  constructor() {
    super("this chain's blocks are not signed: a single process decides them");
  }
}

/**
 * `clique_getLightBlock`: CometBFT's `LightBlock` for a block: the header whose app hash is the block's hash, its signatures, and the
 * validators. null until the next block is decided. Not in geth.
 *
 * @throws UnknownBlockError, NoSignaturesError on the solo engine, EngineRpcError where CometBFT no longer has the height
 */
export const getLightBlock = defineMethod({
  name: "clique_getLightBlock",
  params: { block: optional(blockNumberOrTag, "latest") },
  example: ["0x1"],
  result: json,
  heavy: true,
  handle: async ({ block }, { chain, node }) =>
    (await node.cliqueLightBlock({ number: await numberOf(block, chain) })) ?? null,
});
