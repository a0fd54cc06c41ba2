import { NodeError } from "../../errors.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../primitives/rlp.ts";
import { UnknownBlockError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { type BlockSelector, blockSelector, byHash } from "../params/block-selector.ts";
import { address, data, type ParamCodec } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ValidatorVoting } from "./port.ts";

type Modules = {
  readonly chain: Pick<ChainView, "header">;
  readonly node: Pick<ValidatorVoting, "cliqueSigner">;
};

/** A hash with its prefix. A longer text is RLP. */
const HASH_CHARACTERS = 66;

/** The bytes are no header and no block. */
export class HeaderRlpError extends NodeError {
  readonly code = "CLIQUE_HEADER_RLP";
}

/** A block selector, or the RLP of a header or a block. */
const selectorOrRlp: ParamCodec<BlockSelector> = {
  schema: { title: "block, or RLP of a header or block", type: "string" },
  decode(value, field) {
    return typeof value === "string" && value.length > HASH_CHARACTERS
      ? byHash(hashOfRlp(data.decode(value, field)))
      : blockSelector.decode(value, field);
  },
};

/**
 * `clique_getSigner`: the validator that proposed a block.
 *
 * @throws UnknownBlockError, HeaderRlpError
 */
export const getSigner = defineMethod({
  name: "clique_getSigner",
  params: { block: selectorOrRlp },
  result: address,
  async handle({ block }, { chain, node }: Modules) {
    const sealed = await chain.header(block === "pending" ? "latest" : block);
    if (sealed === undefined) {
      throw new UnknownBlockError(
        `missing block ${typeof block === "object" ? block.blockHash : block}`,
      );
    }
    return node.cliqueSigner(sealed.header.number);
  },
});

function hashOfRlp(bytes: Uint8Array) {
  let item: ReturnType<typeof decodeRlp>;
  try {
    item = decodeRlp(bytes);
  } catch (cause) {
    throw new HeaderRlpError("rlp: not a header or block", {}, { cause });
  }
  if (item instanceof Uint8Array) throw new HeaderRlpError("rlp: expected input list");
  const [first] = item;
  // A block begins with its header, which is a list; a header begins with the parent's hash.
  return keccak256Hash(first instanceof Uint8Array ? bytes : encodeRlp(first ?? []));
}
