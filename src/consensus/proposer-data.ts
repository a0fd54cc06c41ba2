import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, bytesToBigint, concatBytes, equalBytes } from "../primitives/bytes.ts";
import { decodeRlp, encodeRlp } from "../primitives/rlp.ts";
import type { Vote } from "./voting/snapshot.ts";
import { voteItem, voteOfItem } from "./voting/vote-codec.ts";

/**
 * What a proposer decides of a block besides its transactions: the first element of every proposal.
 *
 *     0xbf ‖ RLP([version, feeRecipient, extraData, gasLimit, vote or []])
 *
 * No transaction begins with a byte from 0x80 to 0xbf. `voting/vote-codec.ts` has the form of a vote.
 */
export type ProposerData = {
  readonly feeRecipient: Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  readonly gasLimit: bigint;
  /** About the validator set. */
  readonly vote?: Vote;
};

const PREFIX = 0xbf;
const VERSION = Uint8Array.of(1);
const ENCODED_BYTES_MAX = 256;

/** The first element of a proposal is missing, malformed or not canonical. */
export class InvalidProposerDataError extends NodeError {
  readonly code = "INVALID_PROPOSER_DATA";
}

export function encodeProposerData(data: ProposerData): Uint8Array {
  return concatBytes(
    Uint8Array.of(PREFIX),
    encodeRlp([
      VERSION,
      addressToBytes(data.feeRecipient),
      data.extraData,
      bigintToBytes(data.gasLimit),
      data.vote ? voteItem(data.vote) : [],
    ]),
  );
}

/** @throws InvalidProposerDataError */
export function decodeProposerData(bytes: Uint8Array | undefined): ProposerData {
  if (bytes === undefined || bytes[0] !== PREFIX || bytes.length > ENCODED_BYTES_MAX) {
    throw new InvalidProposerDataError("a block begins with proposer data");
  }
  const fields = fieldsOf(bytes);
  const [version, feeRecipient, extraData, gasLimit, voteField] = fields;
  const vote = voteField && voteOfItem(voteField);
  const hasNoVote = !(voteField instanceof Uint8Array) && voteField?.length === 0;
  if (
    fields.length !== 5 ||
    !(version instanceof Uint8Array && feeRecipient instanceof Uint8Array) ||
    !(extraData instanceof Uint8Array && gasLimit instanceof Uint8Array) ||
    !equalBytes(version, VERSION) ||
    feeRecipient.length !== 20 ||
    extraData.length > 32 ||
    gasLimit.length > 8 ||
    gasLimit[0] === 0 ||
    !(vote || hasNoVote)
  ) {
    throw new InvalidProposerDataError("malformed proposer data");
  }
  return {
    feeRecipient: addressFromBytes(feeRecipient),
    extraData,
    gasLimit: bytesToBigint(gasLimit),
    ...(vote && { vote }),
  };
}

function fieldsOf(bytes: Uint8Array) {
  try {
    const item = decodeRlp(bytes.subarray(1));
    if (!(item instanceof Uint8Array)) return item;
  } catch (cause) {
    throw new InvalidProposerDataError("proposer data is not RLP", {}, { cause });
  }
  throw new InvalidProposerDataError("proposer data is not a list");
}
