import type { Hash } from "../../base/primitives/hash.ts";
import {
  boolean,
  dataFault,
  hash,
  jsonKind,
  lenientInteger,
  object,
  type ParamCodec,
  quantity,
  quantityFault,
  typeFault,
} from "../transport/codec.ts";
import { InvalidValueError } from "../transport/errors.ts";

type BlockTag = "earliest" | "latest" | "pending" | "safe" | "finalized";

/** A block by its position in the canonical chain. */
export type BlockNumberOrTag = number | BlockTag;

/** A block by position or, as EIP-1898 has it, by hash. */
export type BlockSelector = BlockNumberOrTag | { readonly blockHash: Hash; readonly requireCanonical: boolean };

/** Any block with this hash, as methods select one that take a plain hash. */
export function byHash(blockHash: Hash): BlockSelector {
  return { blockHash, requireCanonical: false };
}

const TAGS: ReadonlySet<unknown> = new Set<BlockTag>(["earliest", "latest", "pending", "safe", "finalized"]);

const NUMBER_MAX = 2n ** 63n - 1n;

/** A block number or tag. Numbers above 2^53 − 1 become 2^53 − 1, which no chain reaches. */
export const blockNumberOrTag: ParamCodec<BlockNumberOrTag> = {
  schema: {
    title: "block number or tag",
    oneOf: [quantity.schema, { type: "string", enum: [...TAGS] }],
  },
  decode(value) {
    if (TAGS.has(value)) return value as BlockTag;
    if (typeof value !== "string") throw new InvalidValueError("hex string without 0x prefix");
    return decodeNumber(value, "block number larger than int64");
  },
};

/** Accepts JSON numbers too: geth's older methods took only those, and Erigon's accept them. */
export const numberOrTag: ParamCodec<BlockNumberOrTag> = {
  ...(blockNumberOrTag.schema && {
    schema: { title: "block", oneOf: [{ type: "integer" }, blockNumberOrTag.schema] },
  }),
  decode: (value, field) =>
    typeof value === "number" ? lenientInteger.decode(value, field) : blockNumberOrTag.decode(value, field),
};

const eip1898 = object("erased", {
  blockNumber: blockNumberOrTag,
  blockHash: hash,
  requireCanonical: boolean,
});

/** A block number, a tag, a 32-byte hash as string, or the object of EIP-1898. */
export const blockSelector: ParamCodec<BlockSelector> = {
  schema: {
    title: "block",
    oneOf: [blockNumberOrTag.schema, hash.schema, { ...eip1898.schema, title: "EIP-1898 block" }],
  },
  decode(value, field) {
    if (typeof value === "string") {
      if (TAGS.has(value)) return value as BlockTag;
      return value.length === 66
        ? { blockHash: decodeHash(value), requireCanonical: false }
        : decodeNumber(value, "blocknumber too high");
    }
    if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
      throw typeFault(jsonKind(value), "string", field);
    }
    const { blockNumber, blockHash, requireCanonical = false } = decodeObject(value, field);
    if (blockNumber !== undefined && blockHash !== undefined) {
      throw new InvalidValueError("cannot specify both BlockHash and BlockNumber, choose one or the other");
    }
    if (blockNumber !== undefined) return blockNumber;
    if (blockHash !== undefined) return { blockHash, requireCanonical };
    throw new InvalidValueError("must specify either BlockHash or BlockNumber");
  },
};

/** geth reads the value a second time, as a string, when it is no EIP-1898 object, and reports that failure. */
function decodeObject(value: object | null, field: string | undefined) {
  try {
    return eip1898.decode(value);
  } catch {
    throw typeFault("object", "string", field);
  }
}

function decodeNumber(text: string, tooHigh: string): number {
  const fault = quantityFault(text, 64);
  if (fault !== undefined) throw new InvalidValueError(fault);
  const number = BigInt(text);
  if (number > NUMBER_MAX) throw new InvalidValueError(tooHigh);
  return number > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(number);
}

function decodeHash(text: string): Hash {
  if (/^0x[0-9a-fA-F]{64}$/i.test(text)) return text.toLowerCase() as Hash;
  throw new InvalidValueError(dataFault(text));
}
