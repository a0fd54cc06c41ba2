import type { Address } from "../../primitives/address.ts";
import { UnknownBlockError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { type BlockSelector, blockNumberOrTag, byHash } from "../params/block-selector.ts";
import { hash, json, nullAs, optional } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { CliqueSnapshot, ValidatorVoting } from "./port.ts";

type Modules = {
  readonly chain: Pick<ChainView, "header">;
  readonly node: Pick<ValidatorVoting, "cliqueSnapshot">;
};

const block = optional(nullAs(blockNumberOrTag, "latest"), "latest");

/** `clique_getSnapshot`: the validators after a block and the votes about others. @throws UnknownBlockError, BlockPrunedError */
export const getSnapshot = defineMethod({
  name: "clique_getSnapshot",
  params: { block },
  result: json,
  handle: ({ block }, modules: Modules) => snapshotAt(block, modules),
});

/** `clique_getSnapshotAtHash`: the same of the block with this hash. */
export const getSnapshotAtHash = defineMethod({
  name: "clique_getSnapshotAtHash",
  params: { hash },
  result: json,
  handle: ({ hash }, modules: Modules) => snapshotAt(byHash(hash), modules),
});

/** `clique_getSigners`: the addresses of the validators after a block, ascending. */
export const getSigners = defineMethod({
  name: "clique_getSigners",
  params: { block },
  result: json,
  handle: async ({ block }, modules: Modules) => signersOf(await snapshotAt(block, modules)),
});

/** `clique_getSignersAtHash`: the same of the block with this hash. */
export const getSignersAtHash = defineMethod({
  name: "clique_getSignersAtHash",
  params: { hash },
  result: json,
  handle: async ({ hash }, modules: Modules) => signersOf(await snapshotAt(byHash(hash), modules)),
});

async function snapshotAt(at: BlockSelector, { chain, node }: Modules): Promise<CliqueSnapshot> {
  // The votes of a pending block are not counted yet.
  const sealed = await chain.header(at === "pending" ? "latest" : at);
  if (sealed === undefined) throw new UnknownBlockError("unknown block");
  return node.cliqueSnapshot(sealed.header.number);
}

function signersOf({ signers }: CliqueSnapshot): readonly Address[] {
  return Object.keys(signers) as Address[];
}
