import { publicKey, timestamp } from "../../consensus/cometbft/abci/messages.ts";
import {
  encodeMessage,
  encodeVarint,
  message,
  optional,
  single,
} from "../../consensus/cometbft/abci/protobuf.ts";
import {
  blockId,
  engineHeaderHash,
  hashedBytesOf,
  merkleRoot,
} from "../../consensus/cometbft/rpc/block.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { bytesOf, int64Of, type Json, numberOf, objectOf, textOf } from "./json.ts";

const validator = message({ publicKey: optional(1, publicKey), power: single(2, "int64") });
/** What a validator signs: `CanonicalVote`. */
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
export function validatorsHash(validators: readonly Json[]): Hash {
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

/** What a validator signs who votes for the block of `commit` at `time`. @throws InvalidHexError */
export function signedBytes(commit: Json, chainId: string, time: unknown): Uint8Array {
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
