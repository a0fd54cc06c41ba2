import { inspect } from "node:util";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { hashToBytes } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { Block } from "../../../base/types/block.ts";
import { encodeBlock } from "../../../base/types/block-codec.ts";
import { encodeHeader } from "../../../base/types/header-codec.ts";
import { encodeReceipt } from "../../../base/types/receipt-codec.ts";
import { type BlockSelector, blockSelector, byHash, numberOrTag } from "../../ports/block-selector.ts";
import { array, data, type JsonText, nullable, rawJsonOf, string } from "../../transport/codec.ts";
import { aliasMethod } from "../../transport/dispatch/method.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { NoBlockAccessListError } from "../eth/blocks.ts";
import { getRawTransactionByHash } from "../eth/transactions.ts";
import { listInSteps } from "../json/list-in-steps.ts";
import { dataText, joinedJson } from "../json/write.ts";
import { assertBlock } from "./database.ts";

/** `debug_getRaw*` ignore `requireCanonical`, as geth does. */
function rawSelector(block: BlockSelector): BlockSelector {
  return typeof block === "object" ? byHash(block.blockHash) : block;
}

/**
 * An unknown number is no error for `debug_getRaw*`, an unknown hash is.
 * @throws UnknownBlockError with geth's text, which prints the hash as a Go byte list
 */
function assertNotByHash(block: BlockSelector, what: "block" | "header"): void {
  if (typeof block !== "object") return;
  throw new UnknownBlockError(`${what} #[${hashToBytes(block.blockHash).join(" ")}] not found`);
}

/**
 * `debug_getRawHeader`: RLP of the header; `0x` for an unknown number, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawHeader = defineMethod({
  name: "debug_getRawHeader",
  params: { block: blockSelector },
  example: ["latest"],
  result: data,
  handle: ({ block }, { chain }) =>
    andThen(chain.header({ at: rawSelector(block) }), (sealed) => {
      if (sealed) return encodeHeader(sealed.header);
      assertNotByHash(block, "header");
      return EMPTY_BYTES;
    }),
});

/**
 * `debug_getRawBlock`: RLP of the block; `0x` for an unknown number, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawBlock = defineMethod({
  name: "debug_getRawBlock",
  params: { block: blockSelector },
  example: ["latest"],
  result: data,
  handle: ({ block }, { chain }) =>
    andThen(chain.block({ at: rawSelector(block) }), (executed) => {
      if (executed) return encodeBlock(executed.block);
      assertNotByHash(block, "block");
      return EMPTY_BYTES;
    }),
});

/**
 * `debug_getRawReceipts`: consensus encoding of each receipt; as in geth, null for an unknown number and an empty list for an unknown hash.
 */
export const getRawReceipts = defineMethod({
  name: "debug_getRawReceipts",
  params: { block: blockSelector },
  example: ["latest"],
  result: rawJsonOf(nullable(array(data)).schema!),
  handle: ({ block }, { chain, sessions }) =>
    andThen(chain.block({ at: rawSelector(block) }), (executed) => {
      if (executed)
        return inSlices(
          listInSteps(executed.receipts, (receipt) => dataText(encodeReceipt(receipt))),
          sessions.slices.json,
        );
      return typeof block === "object" ? "[]" : "null";
    }),
});

/**
 * `debug_getRawBlockAccessList`: RLP of the block access list (EIP-7928), whose keccak256 is in the header.
 *
 * @throws NoBlockAccessListError for an unknown block too, BlockPrunedError
 */
export const getRawBlockAccessList = defineMethod({
  name: "debug_getRawBlockAccessList",
  params: { block: blockSelector },
  example: ["latest"],
  result: data,
  handle: ({ block }, { chain }) =>
    andThen(chain.accessList({ at: rawSelector(block) }), (list) => {
      if (list == null) throw new NoBlockAccessListError();
      return list;
    }),
});

/** `debug_getRawTransaction`: as `eth_getRawTransactionByHash`. */
export const getRawTransaction = aliasMethod(getRawTransactionByHash, "debug_getRawTransaction");

/**
 * `debug_getBlockRlp`: RLP of the block, as in geth before 1.11; replaced by `debug_getRawBlock`.
 *
 * @throws UnknownBlockError
 */
export const getBlockRlp = defineMethod({
  name: "debug_getBlockRlp",
  params: { block: numberOrTag },
  example: [0],
  result: data,
  handle: ({ block }, { chain }) =>
    andThen(chain.block({ at: block }), (executed) => {
      assertBlock(executed, block);
      return encodeBlock(executed.block);
    }),
});

/**
 * `debug_getHeaderRlp`: RLP of the header, as in geth before 1.11; replaced by `debug_getRawHeader`.
 *
 * @throws UnknownBlockError
 */
export const getHeaderRlp = defineMethod({
  name: "debug_getHeaderRlp",
  params: { block: numberOrTag },
  example: [0],
  result: data,
  handle: ({ block }, { chain }) =>
    andThen(chain.header({ at: block }), (sealed) => {
      assertBlock(sealed, block);
      return encodeHeader(sealed.header);
    }),
});

/**
 * `debug_printBlock`: the block's fields as readable text. geth prints Go structures with memory addresses.
 *
 * @throws UnknownBlockError
 */
export const printBlock = defineMethod({
  name: "debug_printBlock",
  params: { block: numberOrTag },
  example: [0],
  result: rawJsonOf(string.schema!),
  handle: ({ block }, { chain, sessions }) =>
    andThen(chain.block({ at: block }), (executed) => {
      assertBlock(executed, block);
      return inSlices(printedInSteps(executed.block), sessions.slices.json);
    }),
});

const PRINTED = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: 100 };

/** JSON of the text, each transaction a step of its own. */
function* printedInSteps(block: Block): Generator<undefined, JsonText> {
  const escaped = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1));
  const printed = (value: unknown) => inspect(withHexBytes(value), PRINTED);
  const parts: JsonText[] = ['"{\\n'];
  for (const [name, value] of Object.entries(block)) {
    const list = Array.isArray(value) && value.length > 0 ? value : undefined;
    parts.push(escaped(`  ${name}: ${list ? "[\n" : `${indented(printed(value), 2)},\n`}`));
    for (const each of list ?? []) {
      parts.push(escaped(`    ${indented(printed(each), 4)},\n`));
      yield;
    }
    if (list) parts.push(escaped("  ],\n"));
    yield;
  }
  return joinedJson(...parts, '}\\n"');
}

function indented(text: string, columns: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(columns)}`);
}

function withHexBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(withHexBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withHexBytes(field)]));
}
