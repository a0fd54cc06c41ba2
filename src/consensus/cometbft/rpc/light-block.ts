import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../../base/primitives/hex.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { BlockId, CommitSignature, LightBlock, LightTime, LightValidator } from "../../engine.ts";
import { BLOCK_ID_FLAG } from "../abci/messages.ts";

/** CometBFT's RPC result of `commit`: 64-bit integers are decimal, hashes hex digits without prefix. */
export type CommitAnswer = {
  readonly signed_header: {
    readonly header: {
      readonly version: { readonly block: string; readonly app?: string };
      readonly chain_id: string;
      readonly height: string;
      readonly time: string;
      readonly last_block_id: BlockIdAnswer;
      readonly last_commit_hash: string;
      readonly data_hash: string;
      readonly validators_hash: string;
      readonly next_validators_hash: string;
      readonly consensus_hash: string;
      readonly app_hash: string;
      readonly last_results_hash: string;
      readonly evidence_hash: string;
      readonly proposer_address: string;
    };
    readonly commit: {
      readonly height: string;
      readonly round: number;
      readonly block_id: BlockIdAnswer;
      readonly signatures: readonly SignatureAnswer[];
    };
  };
};

/** A page of `validators`. */
export type ValidatorsAnswer = {
  readonly total: string;
  readonly validators: readonly {
    readonly address: string;
    readonly pub_key: { readonly value: string };
    readonly voting_power: string;
  }[];
};

type BlockIdAnswer = {
  readonly hash: string;
  readonly parts: { readonly total: number; readonly hash: string };
};

type SignatureAnswer = {
  readonly block_id_flag: number;
  readonly validator_address: string;
  readonly timestamp: string;
  readonly signature: string | null;
};

export function lightBlockOf(
  { signed_header: { header, commit } }: CommitAnswer,
  validators: ValidatorsAnswer["validators"],
): LightBlock {
  return {
    header: {
      version: { block: quantity(header.version.block), app: quantity(header.version.app ?? "0") },
      chainId: header.chain_id,
      height: quantity(header.height),
      time: timeOf(header.time),
      lastBlockId: blockIdOf(header.last_block_id),
      lastCommitHash: hex(header.last_commit_hash),
      dataHash: hex(header.data_hash),
      validatorsHash: hex(header.validators_hash),
      nextValidatorsHash: hex(header.next_validators_hash),
      consensusHash: hex(header.consensus_hash),
      appHash: hex(header.app_hash) as Hash,
      lastResultsHash: hex(header.last_results_hash),
      evidenceHash: hex(header.evidence_hash),
      proposerAddress: hex(header.proposer_address) as Address,
    },
    commit: {
      height: quantity(commit.height),
      round: toQuantity(commit.round),
      blockId: blockIdOf(commit.block_id),
      signatures: commit.signatures.map(signatureOf),
    },
    validators: validators.map(
      (each): LightValidator => ({
        address: hex(each.address) as Address,
        publicKey: fromBase64(each.pub_key.value),
        power: quantity(each.voting_power),
      }),
    ),
  };
}

function signatureOf(answer: SignatureAnswer): CommitSignature | null {
  if (answer.block_id_flag !== BLOCK_ID_FLAG.commit) return null;
  return {
    validator: hex(answer.validator_address) as Address,
    time: timeOf(answer.timestamp),
    signature: fromBase64(answer.signature ?? ""),
  };
}

function blockIdOf({ hash, parts }: BlockIdAnswer): BlockId {
  return { hash: hex(hash), parts: { total: toQuantity(parts.total), hash: hex(parts.hash) } };
}

/** @param text RFC 3339 in UTC, with up to nine fractional digits */
function timeOf(text: string): LightTime {
  const [seconds, fraction = ""] = text.replace("Z", "").split(".");
  return {
    seconds: toQuantity(Date.parse(`${seconds}Z`) / 1000),
    nanos: toQuantity(Number(fraction.padEnd(9, "0"))),
  };
}

function quantity(decimal: string): Hex {
  return toQuantity(BigInt(decimal));
}

function hex(digits: string): Hex {
  return `0x${digits.toLowerCase()}`;
}

function fromBase64(text: string): Hex {
  return bytesToHex(Buffer.from(text, "base64"));
}
