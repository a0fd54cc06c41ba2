import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { merkleRoot } from "./merkle.ts";
import { type Timestamp, timestamp } from "./messages.ts";
import { encodeMessage, type MessageOf, message, single } from "./protobuf.ts";

/** CometBFT's `BlockID`. */
export const blockId = message({
  hash: single(1, "bytes"),
  parts: single(2, message({ total: single(1, "uint32"), hash: single(2, "bytes") })),
});
const version = message({ block: single(1, "uint64"), app: single(2, "uint64") });
const text = message({ value: single(1, "string") });
const integer = message({ value: single(1, "int64") });
const bytes = message({ value: single(1, "bytes") });

/** A header of CometBFT, of which the hash is computed. */
export type EngineHeader = {
  readonly version: MessageOf<typeof version>;
  readonly chainId: string;
  readonly height: bigint;
  readonly time: Timestamp;
  readonly lastBlockId: MessageOf<typeof blockId>;
} & HashedBytes;

type HashedBytes = { readonly [Name in (typeof HASHED_BYTES)[number]]: Uint8Array };

/** Members of a header after its time and last block, in the order in which they are hashed. */
const HASHED_BYTES = [
  "lastCommitHash",
  "dataHash",
  "validatorsHash",
  "nextValidatorsHash",
  "consensusHash",
  "appHash",
  "lastResultsHash",
  "evidenceHash",
  "proposerAddress",
] as const;

/** @param read the bytes of one of these members */
export function hashedBytesOf(read: (name: keyof HashedBytes) => Uint8Array): HashedBytes {
  return Object.fromEntries(HASHED_BYTES.map((name) => [name, read(name)])) as HashedBytes;
}

/** CometBFT's hash of a header, from its 14 fields. */
export function engineHeaderHash(header: EngineHeader): Hash {
  const root = merkleRoot([
    encodeMessage(version, header.version),
    encodeMessage(text, { value: header.chainId }),
    encodeMessage(integer, { value: header.height }),
    encodeMessage(timestamp, header.time),
    encodeMessage(blockId, header.lastBlockId),
    ...HASHED_BYTES.map((name) => encodeMessage(bytes, { value: header[name] })),
  ]);
  return hashFromBytes(root);
}
