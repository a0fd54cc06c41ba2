import type { ChainReader } from "../../chain/reader.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { hashToBytes } from "../../primitives/hash.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import { encodeBlock } from "../../types/block-codec.ts";
import { encodeHeader } from "../../types/header-codec.ts";
import { encodeReceipt } from "../../types/receipt-codec.ts";
import { UnknownBlockError } from "../dispatch/errors.ts";
import { aliasMethod, defineMethod } from "../dispatch/method.ts";
import { getRawTransactionByHash } from "../eth/transaction/get-raw-transaction-by-hash.ts";
import { type BlockSelector, blockSelector } from "../params/block-selector.ts";
import { array, data, nullable } from "../params/codec.ts";
import { findByNumber } from "../ports/resolve.ts";

type Modules = { chain: ChainReader };

/**
 * `debug_getRawBlock`: RLP of the block. An unknown number gives no bytes, `0x`, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawBlock = defineMethod({
  name: "debug_getRawBlock",
  params: { block: blockSelector },
  result: data,
  handle({ block }, { chain }: Modules) {
    const executed = known(chain, block, "block");
    return executed ? encodeBlock(executed.block) : EMPTY_BYTES;
  },
});

/**
 * `debug_getRawHeader`: RLP of the header. An unknown number gives no bytes, `0x`, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawHeader = defineMethod({
  name: "debug_getRawHeader",
  params: { block: blockSelector },
  result: data,
  handle({ block }, { chain }: Modules) {
    const executed = known(chain, block, "header");
    return executed ? encodeHeader(executed.block.header) : EMPTY_BYTES;
  },
});

/** `debug_getRawReceipts`: consensus encoding of each receipt; for an unknown number null, for an unknown hash none, as in geth. */
export const getRawReceipts = defineMethod({
  name: "debug_getRawReceipts",
  params: { block: blockSelector },
  result: nullable(array(data)),
  handle({ block }, { chain }: Modules) {
    const executed = find(chain, block);
    if (executed) return executed.receipts.map(encodeReceipt);
    return typeof block === "object" ? [] : null;
  },
});

/** `debug_getRawTransaction`: as `eth_getRawTransactionByHash`. */
export const getRawTransaction = aliasMethod(getRawTransactionByHash, "debug_getRawTransaction");

/** `requireCanonical` is not looked at here, in geth neither. */
function find(chain: ChainReader, block: BlockSelector): ExecutedBlock | undefined {
  return typeof block === "object"
    ? chain.blockByHash(block.blockHash)
    : findByNumber(chain, block);
}

function known(
  chain: ChainReader,
  block: BlockSelector,
  what: "block" | "header",
): ExecutedBlock | undefined {
  const executed = find(chain, block);
  if (!executed && typeof block === "object") {
    // geth prints the hash as a Go byte list.
    throw new UnknownBlockError(`${what} #[${hashToBytes(block.blockHash).join(" ")}] not found`);
  }
  return executed;
}
