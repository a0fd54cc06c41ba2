import { hashToBytes } from "../../../primitives/hash.ts";
import { decodeRlp, encodeRlp } from "../../../primitives/rlp.ts";
import type { ExecutedBlock } from "../../../types/block.ts";
import { encodeBlock } from "../../../types/block-codec.ts";
import { encodeHeader } from "../../../types/header-codec.ts";
import { storedReceiptItem } from "../../../types/receipt-codec.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data, jsonInteger, string } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { DebugError } from "../errors.ts";

type Modules = { readonly chain: Pick<ChainView, "block" | "head"> };

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
 * `debug_dbAncient`: `headers`, `hashes`, `bodies` or `receipts` of a block as geth's append-only files have it; here from the block log.
 *
 * @throws DebugError with geth's text for another kind or a block after the head
 */
export const dbAncient = defineMethod({
  name: "debug_dbAncient",
  params: { kind: string, number: lenientInteger },
  result: data,
  handle({ kind, number }, { chain }: Modules) {
    const encode = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (encode === undefined) throw new DebugError("unknown table");
    return andThen(chain.block(number), (executed) => {
      if (executed === undefined) throw new DebugError("out of bounds");
      return encode(executed);
    });
  },
});

/** `debug_dbAncients`: number of blocks in the block log: here every block is in the append-only files. */
export const dbAncients = defineMethod({
  name: "debug_dbAncients",
  params: {},
  result: jsonInteger,
  handle: (_params, { chain }: Modules) => andThen(chain.head(), ({ header }) => header.number + 1),
});
