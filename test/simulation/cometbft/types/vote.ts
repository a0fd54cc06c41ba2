import { BLOCK_ID_FLAG, timestamp } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { type MessageOf, message, repeated, single } from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import { blockId } from "../../../../src/consensus/cometbft/rpc/block.ts";

/** Hashes, addresses, keys and signatures are lower-case hexadecimal digits without prefix; times are nanoseconds since 1970. */
export type BlockId = {
  readonly hash: string;
  readonly parts: { readonly total: number; readonly hash: string };
};

export type VoteType = "prevote" | "precommit";

export type Vote = {
  readonly type: VoteType;
  readonly height: number;
  readonly round: number;
  /** undefined: a vote for no block. */
  readonly blockId: BlockId | undefined;
  readonly time: bigint;
  /** In the validators of the height. */
  readonly index: number;
  readonly address: string;
  readonly signature: string;
};

export type Proposal = {
  readonly height: number;
  readonly round: number;
  /** Round of the prevotes that justify it; -1: it is new. */
  readonly polRound: number;
  readonly blockId: BlockId;
  readonly time: bigint;
  readonly signature: string;
};

export type CommitSignature = {
  readonly flag: (typeof BLOCK_ID_FLAG)[keyof typeof BLOCK_ID_FLAG];
  readonly address: string;
  readonly time: bigint;
  readonly signature: string;
};

/** The precommits for a block, by index of the validator. */
export type Commit = {
  readonly height: number;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly CommitSignature[];
};

export const ABSENT: CommitSignature = { flag: BLOCK_ID_FLAG.absent, address: "", time: zeroTime(), signature: "" };

/** Go's zero time, 1 January of year 1. */
function zeroTime(): bigint {
  return -62_135_596_800_000_000_000n;
}

export function isSameBlock(a: BlockId | undefined, b: BlockId | undefined): boolean {
  return a?.hash === b?.hash && a?.parts.hash === b?.parts.hash;
}

/** What a validator signs of a vote. */
export function voteText(chainId: string, { type, height, round, blockId, time }: Omit<Vote, "signature">): string {
  return `${chainId}/${type}/${height}/${round}/${blockId?.hash ?? ""}/${blockId?.parts.hash ?? ""}/${time}`;
}

export function proposalText(chainId: string, proposal: Omit<Proposal, "signature">): string {
  const { height, round, polRound, blockId, time } = proposal;
  return `${chainId}/proposal/${height}/${round}/${polRound}/${blockId.hash}/${blockId.parts.hash}/${time}`;
}

/** The votes that a commit consists of; those for another block are not in it. */
export function votesOf(commit: Commit): readonly Vote[] {
  return commit.signatures.flatMap(({ flag, address, time, signature }, index): Vote[] => {
    if (flag === BLOCK_ID_FLAG.absent) return [];
    const { height, round } = commit;
    const blockId = flag === BLOCK_ID_FLAG.commit ? commit.blockId : undefined;
    return [{ type: "precommit", height, round, blockId, time, index, address, signature }];
  });
}

const NANOS = 1_000_000_000n;

export function toTimestamp(time: bigint) {
  const nanos = ((time % NANOS) + NANOS) % NANOS;
  return { seconds: (time - nanos) / NANOS, nanos: Number(nanos) };
}

export function fromTimestamp({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): bigint {
  return seconds * NANOS + BigInt(nanos);
}

/** RFC 3339 with as many digits as Go writes. */
export function timeText(time: bigint): string {
  const { seconds, nanos } = toTimestamp(time);
  const fraction = nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
  return `${timeOfSecond(seconds)}${fraction}Z`;
}

function timeOfSecond(seconds: bigint): string {
  return seconds < 0n ? "0001-01-01T00:00:00" : new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
}

/** @param text RFC 3339 in UTC, with up to nine digits after the second */
export function parseTime(text: string): bigint {
  const [seconds = "", fraction = ""] = text.replace("Z", "").split(".");
  if (seconds.startsWith("0001")) return ABSENT.time;
  return BigInt(Date.parse(`${seconds}Z`) / 1000) * NANOS + BigInt(fraction.padEnd(9, "0"));
}

export function bytesOf(digits: string): Uint8Array {
  return Buffer.from(digits, "hex");
}

export function digitsOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

const NO_BLOCK: BlockId = { hash: "", parts: { total: 0, hash: "" } };

export function toBlockIdFields({ hash, parts }: BlockId = NO_BLOCK) {
  return { hash: bytesOf(hash), parts: { total: parts.total, hash: bytesOf(parts.hash) } };
}

export function fromBlockIdFields({ hash, parts }: ReturnType<typeof toBlockIdFields>): BlockId | undefined {
  if (hash.length === 0) return undefined;
  return { hash: digitsOf(hash), parts: { total: parts.total, hash: digitsOf(parts.hash) } };
}

/** Forms of CometBFT's `types.proto`. */
export const commitSignatureForm = message({
  flag: single(1, "int32"),
  address: single(2, "bytes"),
  time: single(3, timestamp),
  signature: single(4, "bytes"),
});
export const commitForm = message({
  height: single(1, "int64"),
  round: single(2, "int32"),
  blockId: single(3, blockId),
  signatures: repeated(4, commitSignatureForm),
});
export const voteForm = message({
  type: single(1, "int32"),
  height: single(2, "int64"),
  round: single(3, "int32"),
  blockId: single(4, blockId),
  time: single(5, timestamp),
  address: single(6, "bytes"),
  index: single(7, "int32"),
  signature: single(8, "bytes"),
});

const TYPES: Readonly<Record<VoteType, number>> = { prevote: 1, precommit: 2 };

export function toVoteFields(vote: Vote) {
  return {
    type: TYPES[vote.type],
    height: BigInt(vote.height),
    round: vote.round,
    blockId: toBlockIdFields(vote.blockId),
    time: toTimestamp(vote.time),
    address: bytesOf(vote.address),
    index: vote.index,
    signature: bytesOf(vote.signature),
  };
}

export function fromVoteFields(fields: ReturnType<typeof toVoteFields>): Vote {
  return {
    type: fields.type === TYPES.prevote ? "prevote" : "precommit",
    height: Number(fields.height),
    round: fields.round,
    blockId: fromBlockIdFields(fields.blockId),
    time: fromTimestamp(fields.time),
    address: digitsOf(fields.address),
    index: fields.index,
    signature: digitsOf(fields.signature),
  };
}

export function toCommitSignatureFields({ flag, address, time, signature }: CommitSignature) {
  return { flag, address: bytesOf(address), time: toTimestamp(time), signature: bytesOf(signature) };
}

export function toCommitFields({ height, round, blockId, signatures }: Commit) {
  return {
    height: BigInt(height),
    round,
    blockId: toBlockIdFields(blockId),
    signatures: signatures.map(toCommitSignatureFields),
  };
}

export function fromCommitFields(fields: MessageOf<typeof commitForm>): Commit {
  return {
    height: Number(fields.height),
    round: fields.round,
    blockId: fromBlockIdFields(fields.blockId) ?? NO_BLOCK,
    signatures: fields.signatures.map(({ flag, address, time, signature }) => ({
      flag: flag as CommitSignature["flag"],
      address: digitsOf(address),
      time: fromTimestamp(time),
      signature: digitsOf(signature),
    })),
  };
}

/** The commit of the first block of a chain, which has none before it. */
export const NO_COMMIT: Commit = { height: 0, round: 0, blockId: NO_BLOCK, signatures: [] };
