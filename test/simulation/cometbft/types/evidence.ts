import { hash } from "node:crypto";
import { timestamp } from "../../../../src/consensus/cometbft/abci/messages.ts";
import {
  decodeMessage,
  encodeMessage,
  message,
  optional,
  repeated,
  single,
} from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import type { SigningKeys } from "../signing-keys.ts";
import type { ValidatorSet } from "./validator-set.ts";
import {
  fromTimestamp,
  fromVoteFields,
  isSameBlock,
  toTimestamp,
  toVoteFields,
  type Vote,
  voteForm,
  voteText,
} from "./vote.ts";

/** Two votes of one validator for different blocks in one step: proof that it is dishonest. */
export type DuplicateVotes = {
  readonly a: Vote;
  readonly b: Vote;
  readonly totalPower: number;
  readonly power: number;
  /** Of the block at the height of the votes. */
  readonly time: bigint;
};

const duplicateVotesForm = message({
  a: single(1, voteForm),
  b: single(2, voteForm),
  totalPower: single(3, "int64"),
  power: single(4, "int64"),
  time: single(5, timestamp),
});
export const evidenceForm = message({ duplicateVotes: optional(1, duplicateVotesForm) });
export const evidenceListForm = message({ evidence: repeated(1, evidenceForm) });

/** Votes in the order in which evidence has them. */
export function duplicateVotesOf(votes: readonly [Vote, Vote], validators: ValidatorSet, time: bigint): DuplicateVotes {
  const [a, b] = votes.toSorted((x, y) => ((x.blockId?.hash ?? "") < (y.blockId?.hash ?? "") ? -1 : 1));
  return {
    a: a!,
    b: b!,
    totalPower: validators.totalPower,
    power: validators.byAddress(a!.address)!.power,
    time,
  };
}

export function toEvidenceFields({ a, b, totalPower, power, time }: DuplicateVotes) {
  return {
    duplicateVotes: {
      a: toVoteFields(a),
      b: toVoteFields(b),
      totalPower: BigInt(totalPower),
      power: BigInt(power),
      time: toTimestamp(time),
    },
  };
}

export function fromEvidenceFields(fields: {
  readonly duplicateVotes: ReturnType<typeof toEvidenceFields>["duplicateVotes"] | undefined;
}): DuplicateVotes {
  const { a, b, totalPower, power, time } = fields.duplicateVotes!;
  return {
    a: fromVoteFields(a),
    b: fromVoteFields(b),
    totalPower: Number(totalPower),
    power: Number(power),
    time: fromTimestamp(time),
  };
}

/** As its hash covers it: without the envelope that it has in a block. */
export function encodeEvidence(evidence: DuplicateVotes): Uint8Array {
  return encodeMessage(duplicateVotesForm, toEvidenceFields(evidence).duplicateVotes);
}

export function decodeEvidence(bytes: Uint8Array): DuplicateVotes {
  return fromEvidenceFields({ duplicateVotes: decodeMessage(duplicateVotesForm, bytes) });
}

/** Identity of a piece of evidence. */
export function evidenceKey(evidence: DuplicateVotes): string {
  return hash("sha256", encodeEvidence(evidence), "hex");
}

/** Why the votes prove nothing; undefined where they do. */
export function faultOfEvidence(
  { a, b, power, totalPower }: DuplicateVotes,
  {
    chainId,
    validators,
    keys,
  }: { readonly chainId: string; readonly validators: ValidatorSet; readonly keys: SigningKeys },
): string | undefined {
  const validator = validators.byAddress(a.address);
  if (validator === undefined) return `address ${a.address} was not a validator at height ${a.height}`;
  if (a.address !== b.address || a.height !== b.height || a.round !== b.round || a.type !== b.type) {
    return "votes of different steps or validators";
  }
  if (isSameBlock(a.blockId, b.blockId)) return "block IDs are the same";
  if (power !== validator.power || totalPower !== validators.totalPower) return "voting power does not match";
  const isSigned = (vote: Vote) => keys.isSignedBy(validator.publicKey, voteText(chainId, vote), vote.signature);
  return isSigned(a) && isSigned(b) ? undefined : "invalid signature";
}
