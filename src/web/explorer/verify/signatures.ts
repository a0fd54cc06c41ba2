import { addressOfCompressedKey } from "../../../base/crypto/compressed-public-key.ts";
import { recoverAddress } from "../../../base/crypto/secp256k1.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { publicKey, timestamp } from "../../../consensus/cometbft/abci/messages.ts";
import { encodeMessage, encodeVarint, message, optional, single } from "../../../consensus/cometbft/abci/protobuf.ts";
import { blockId, engineHeaderHash, hashedBytesOf, merkleRoot } from "../../../consensus/cometbft/rpc/block.ts";
import { InvalidProofError } from "../../../store/trie/proof.ts";
import {
  addressOf,
  bytesOf,
  compare,
  hashOf,
  int64Of,
  type Json,
  listOf,
  numberOf,
  objectOf,
  textOf,
  unverified,
  VERIFIED,
  type Verdict,
  verdictOf,
  worstOf,
} from "./verdict.ts";

const validator = message({ publicKey: optional(1, publicKey), power: single(2, "int64") });
/** The message that a validator signs: `CanonicalVote`. */
const vote = message({
  type: single(1, "int32"),
  height: single(2, "sfixed64"),
  round: single(3, "sfixed64"),
  blockId: single(4, blockId),
  time: single(5, timestamp),
  chainId: single(6, "string"),
});
const PRECOMMIT = 2;

/** CometBFT's hash of a header, from the 14 fields of a `LightBlock`'s. @throws InvalidHexError */
export function cometHeaderHash(header: Json): Hash {
  const { block, app } = objectOf(header["version"]);
  return engineHeaderHash({
    version: { block: int64Of(block), app: int64Of(app) },
    chainId: textOf(header["chainId"]),
    height: int64Of(header["height"]),
    time: timeOf(header["time"]),
    lastBlockId: blockIdOf(header["lastBlockId"]),
    ...hashedBytesOf((name) => bytesOf(header[name])),
  });
}

/** The hash of a validator set, which covers its keys and powers. @throws InvalidHexError */
function validatorsHash(validators: readonly Json[]): Hash {
  return hashFromBytes(
    merkleRoot(
      validators.map((each) =>
        encodeMessage(validator, {
          publicKey: keyOf(bytesOf(each["publicKey"])),
          power: int64Of(each["power"]),
        }),
      ),
    ),
  );
}

/** The bytes that a validator signs to vote for the block of `commit` at `time`. @throws InvalidHexError */
function signedBytes(commit: Json, chainId: string, time: unknown): Uint8Array {
  const signed = encodeMessage(vote, {
    type: PRECOMMIT,
    height: int64Of(commit["height"]),
    round: int64Of(commit["round"]),
    blockId: blockIdOf(commit["blockId"]),
    time: timeOf(time),
    chainId,
  });
  return concatBytes(encodeVarint(BigInt(signed.length)), signed);
}

function keyOf(secp256k1eth: Uint8Array) {
  const none = undefined;
  return { ed25519: none, secp256k1: none, bls12381: none, mldsa65: none, secp256k1eth };
}

function blockIdOf(value: unknown) {
  const id = objectOf(value);
  const parts = objectOf(id["parts"]);
  return {
    hash: bytesOf(id["hash"]),
    parts: { total: numberOf(parts["total"]), hash: bytesOf(parts["hash"]) },
  };
}

function timeOf(value: unknown) {
  const { seconds, nanos } = objectOf(value);
  return { seconds: int64Of(seconds), nanos: numberOf(nanos) };
}

/** Validators that this browser trusts, from the newest signed header it has verified. Plain JSON. */
export type TrustedValidators = {
  readonly chainId: string;
  /** CometBFT's height: one more than the number of the block to which the header commits. */
  readonly height: number;
  readonly hash: Hash;
  /** The hash of the validators of the next height. */
  readonly nextHash: Hash;
  readonly powers: Readonly<Record<Address, string>>;
};

/** The signers of the header that commits to a block. */
export type Signatures = {
  readonly verdict: Verdict;
  readonly signers: number;
  readonly validators: number;
  /** Share of the total power. */
  readonly percent: number;
  /** To trust from now on; undefined unless `verdict` is "verified" */
  readonly accepted: TrustedValidators | undefined;
};

type Signed = {
  readonly appHash: Hash;
  readonly set: TrustedValidators;
  readonly signers: readonly Address[];
};

/**
 * Whether validators with more than two thirds of the power signed CometBFT's header that commits to `block`, and whether they follow from the
 * trusted ones: the same set, the next set that a trusted header names, or a set whose header more than a third of the trusted power signed.
 * Without `trusted`, any set is accepted as the first one seen.
 * @param lightBlock from `clique_getLightBlock`
 */
export function checkSignatures(
  lightBlock: unknown,
  block: { readonly number: number; readonly hash: Hash },
  trusted: TrustedValidators | undefined,
): Signatures {
  let signed: Signed | undefined;
  const own = verdictOf(() => {
    signed = readSigned(objectOf(lightBlock));
    return worstOf([
      compare("height", block.number + 1, signed.set.height),
      compare("app hash", block.hash, signed.appHash),
      compare("chain id", trusted?.chainId ?? signed.set.chainId, signed.set.chainId),
    ]);
  });
  if (signed === undefined) {
    return { verdict: own, signers: 0, validators: 0, percent: 0, accepted: undefined };
  }
  const { set, signers } = signed;
  const { power, total } = shareOf(set, signers);
  const verdict = worstOf([
    own,
    3n * power > 2n * total ? VERIFIED : unverified("signatures of two thirds or less of the power"),
    trusted === undefined || follows(signed, trusted)
      ? VERIFIED
      : unverified(`a third or less of the power trusted at height ${trusted.height} signed`),
  ]);
  return {
    verdict,
    signers: signers.length,
    validators: Object.keys(set.powers).length,
    percent: Number((1000n * power) / total) / 10,
    accepted: verdict.kind === "verified" ? set : undefined,
  };
}

function follows({ set, signers }: Signed, trusted: TrustedValidators): boolean {
  if (set.hash === trusted.hash) return true;
  if (set.height === trusted.height + 1 && set.hash === trusted.nextHash) return true;
  const { power, total } = shareOf(trusted, signers);
  return 3n * power > total;
}

/** The share of `signers` in the total power of `powers`. */
function shareOf({ powers }: TrustedValidators, signers: readonly Address[]) {
  const sum = (list: readonly string[]) => list.reduce((total, each) => total + BigInt(each), 0n);
  const signed = new Set(signers);
  return {
    power: sum(Object.entries(powers).flatMap(([who, power]) => (signed.has(who as Address) ? power : []))),
    total: sum(Object.values(powers)),
  };
}

/** @throws InvalidProofError if hashes or signatures do not match, InvalidHexError */
function readSigned(lightBlock: Json): Signed {
  const header = objectOf(lightBlock["header"]);
  const commit = objectOf(lightBlock["commit"]);
  const validators = listOf(lightBlock["validators"]).map(objectOf);
  const signatures = listOf(commit["signatures"]);
  const chainId = textOf(header["chainId"]);
  const hash = hashOf(header["validatorsHash"]);
  const height = int64Of(header["height"]);
  requireEqual("hash of the validators", validatorsHash(validators), hash);
  requireEqual("hash of the header", cometHeaderHash(header), objectOf(commit["blockId"])["hash"]);
  requireEqual("height of the commit", int64Of(commit["height"]), height);
  requireEqual("number of signatures", signatures.length, validators.length);
  if (validators.length === 0) throw new InvalidProofError("a header without validators");
  const powers: Record<Address, string> = {};
  const signers: Address[] = [];
  for (const [index, each] of validators.entries()) {
    const validator = addressOfCompressedKey(bytesOf(each["publicKey"]));
    if (validator === undefined || validator in powers) {
      throw new InvalidProofError(`validator ${index} has no key of its own`);
    }
    requireEqual(`address of validator ${index}`, validator, addressOf(each["address"]));
    const power = int64Of(each["power"]);
    if (power === 0n) throw new InvalidProofError(`validator ${index} has no power`);
    powers[validator] = power.toString();
    const signature = signatures[index];
    if (signature === null) continue;
    requireEqual(`signer ${index}`, signerOf(objectOf(signature), commit, chainId), validator);
    signers.push(validator);
  }
  const nextHash = hashOf(header["nextValidatorsHash"]);
  const set = { chainId, hash, nextHash, powers, height: Number(height) };
  return { appHash: hashOf(header["appHash"]), set, signers };
}

/** The validator that made `signature`, which must name it. @throws InvalidProofError, InvalidHexError */
function signerOf(signature: Json, commit: Json, chainId: string): Address {
  const bytes = bytesOf(signature["signature"]);
  const [yParity] = bytes.subarray(64);
  if (bytes.length !== 65 || (yParity !== 0 && yParity !== 1)) {
    throw new InvalidProofError("a signature is not r, s and v");
  }
  const digest = keccak256(signedBytes(commit, chainId, signature["time"]));
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32, 64)].map(bytesToBigint);
  const signer = recoverAddress(digest, r!, s!, yParity);
  requireEqual("signer", signer, addressOf(signature["validator"]));
  return signer!;
}

function requireEqual(name: string, computed: unknown, claimed: unknown): void {
  if (computed !== claimed) throw new InvalidProofError(`${name}: ${claimed}, not ${computed}`);
}
