import { NodeError } from "../../../base/errors.ts";
import { hashFromBytes, hashToBytes, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../../base/primitives/rlp.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { encodeBlock } from "../../../base/types/block-codec.ts";
import { encodeHeader } from "../../../base/types/header-codec.ts";
import { storedReceiptItem } from "../../../base/types/receipt-codec.ts";
import type { BlockNumberOrTag } from "../../ports/block-selector.ts";
import { data, hash, json, jsonInteger, lenientInteger, nothing, rawJson, string } from "../../transport/codec.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { blockTextInSteps, type HeaderStyle } from "../json/block-json.ts";

/** @throws UnknownBlockError with geth's text if the block does not exist */
export function assertBlock<T>(found: T | undefined, at: BlockNumberOrTag): asserts found is T {
  if (found === undefined) throw new UnknownBlockError(`block #${at} not found`);
}

/** `debug_chaindbProperty`: figures of the block log and its index, for people. */
export const chaindbProperty = defineMethod({
  name: "debug_chaindbProperty",
  params: {},
  result: string,
  handle: (_params, { inspection }) => inspection.storeStats(),
});

/** `debug_chaindbCompact`: flushes index entries from memory to disk. */
export const chaindbCompact = defineMethod({
  name: "debug_chaindbCompact",
  params: {},
  result: nothing,
  private: true,
  heavy: true,
  handle: (_params, { inspection }) => inspection.compactStore(),
});

/**
 * `debug_dbGet`: a row of the index, by its key as hex or text; `src/store/storage/schema.ts` lists the tables.
 *
 * @throws DebugError if the row does not exist
 */
export const dbGet = defineMethod({
  name: "debug_dbGet",
  params: { key: string },
  example: ["0x01666f726d6174"],
  result: data,
  handle: ({ key }, { inspection }) =>
    andThen(inspection.row({ key: keyBytes(key) }), (value) => {
      if (value === undefined) throw new DebugError("not found");
      return value;
    }),
});

function keyBytes(key: string): Uint8Array {
  return /^0x(?:[0-9a-f]{2})*$/i.test(key) ? hexToBytes(key.toLowerCase() as Hex) : new TextEncoder().encode(key);
}

/** What the append-only files hold of a block, by geth's names. */
const KINDS: Readonly<Record<string, (executed: ExecutedBlock) => Uint8Array>> = {
  hashes: ({ block }) => hashToBytes(block.hash),
  headers: ({ block }) => encodeHeader(block.header),
  bodies: ({ block }) => {
    const parts = decodeRlp(encodeBlock(block));
    return encodeRlp(parts instanceof Uint8Array ? parts : parts.slice(1));
  },
  receipts: ({ receipts }) => encodeRlp(receipts.map(storedReceiptItem)),
};

/**
 * `debug_dbAncient`: `headers`, `hashes`, `bodies` or `receipts` of a block, encoded as in geth's freezer; read from the block log.
 *
 * @throws DebugError with geth's text for another kind or a block after the head
 */
export const dbAncient = defineMethod({
  name: "debug_dbAncient",
  params: { kind: string, number: lenientInteger },
  example: ["headers", 0],
  result: data,
  handle({ kind, number }, { chain }) {
    const encode = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (encode === undefined) throw new DebugError("unknown table");
    return andThen(chain.block({ at: number }), (executed) => {
      if (executed === undefined) throw new DebugError("out of bounds");
      return encode(executed);
    });
  },
});

/** `debug_dbAncients`: number of blocks in the block log, which holds every block. */
export const dbAncients = defineMethod({
  name: "debug_dbAncients",
  params: {},
  result: jsonInteger,
  handle: (_params, { chain }) => andThen(chain.head(), ({ header }) => header.number + 1),
});

const UNDEFINED = "trie flush interval is undefined for path-based scheme";

/**
 * `debug_getTrieFlushInterval`: fails, as in geth with its default store, because the trie has no flush interval. Blocks are on disk before
 * they are visible; trie nodes are flushed by size.
 *
 * @throws DebugError
 */
export const getTrieFlushInterval = defineMethod({
  name: "debug_getTrieFlushInterval",
  params: {},
  result: string,
  handle() {
    throw new DebugError(UNDEFINED);
  },
});

/** `debug_setTrieFlushInterval`: fails, as in geth with its default store, because the trie has no flush interval. @throws DebugError */
export const setTrieFlushInterval = defineMethod({
  name: "debug_setTrieFlushInterval",
  params: { interval: string },
  result: json,
  private: true,
  handle() {
    throw new DebugError(UNDEFINED);
  },
});

/**
 * `debug_setHead`: permanently removes every block after `number`. Subscribers receive the removed logs again with `removed: true`. As in
 * geth, the removed transactions do not return to the pool.
 *
 * @throws DebugError for the head and later blocks
 */
export const setHead = defineMethod({
  name: "debug_setHead",
  params: { number: lenientInteger },
  result: nothing,
  private: true,
  heavy: true,
  handle: ({ number }, { inspection }) => inspection.rewind({ number }),
});

/** Blocks of one ethash epoch (Yellow Paper, appendix J). */
const EPOCH_BLOCKS = 30_000;

/**
 * `debug_seedHash`: the ethash seed of a block of the chain: 32 zero bytes, hashed once for each epoch before its own.
 *
 * @throws UnknownBlockError
 */
export const seedHash = defineMethod({
  name: "debug_seedHash",
  params: { number: lenientInteger },
  example: [0],
  result: hash,
  handle: ({ number }, { chain }) =>
    andThen(chain.header({ at: number }), (sealed) => {
      assertBlock(sealed, number);
      let seed = hashToBytes(ZERO_HASH);
      for (let epoch = Math.floor(number / EPOCH_BLOCKS); epoch > 0; epoch--) seed = keccak256(seed);
      return hashFromBytes(seed);
    }),
});

/** `debug_getBadBlocks`: the newest invalid blocks rejected since the start, at most a hundred, highest first. */
export const getBadBlocks = defineMethod({
  name: "debug_getBadBlocks",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (_params, { inspection, sessions }) =>
    andThen(inspection.badBlocks(), (blocks) =>
      inSlices(badBlocksText(blocks, sessions.blockJson.style), sessions.slices.json),
    ),
});

function* badBlocksText(blocks: readonly ExecutedBlock[], style: HeaderStyle): Generator<undefined, string> {
  const entries: string[] = [];
  for (const executed of blocks) {
    const { block } = executed;
    const text = yield* blockTextInSteps(executed, true, style);
    entries.push(`{"hash":"${block.hash}","block":${text},"rlp":"${bytesToHex(encodeBlock(block))}"}`);
    yield;
  }
  return `[${entries.join(",")}]`;
}

/** The debug method is not possible now, or not with these parameters. */
export class DebugError extends NodeError {
  readonly code = "DEBUG_REJECTED";
}
