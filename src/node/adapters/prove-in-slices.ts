import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { AccountProof } from "../../evm/state/state-trie.ts";
import { assertStands } from "./resolve.ts";

/** Slots to prove between looks at the clock: at most a millisecond. The account is proved again for each group. */
const SLOTS_PER_STEP = 16;

/**
 * Proves an account and its slots after a block: a few slots at once, more in slices between which other work runs.
 * @throws UnknownBlockError if the block is rolled back meanwhile: its trie is no longer stored
 */
export function proveInSlices(
  reader: Pick<ChainReader, "proof" | "blockHash">,
  block: { readonly number: number; readonly hash: Hash },
  { address, slots }: { readonly address: Address; readonly slots: readonly Hash[] },
  slices: SharedSlices,
): MaybePromise<AccountProof> {
  if (slots.length <= SLOTS_PER_STEP) return reader.proof(address, slots, block.number);

  async function proveAll(): Promise<AccountProof> {
    const parts: AccountProof[] = [];
    await slices.enter();
    for (let start = 0; start < slots.length; start += SLOTS_PER_STEP) {
      if (slices.isOver()) await slices.next();
      assertStands(reader, block);
      parts.push(reader.proof(address, slots.slice(start, start + SLOTS_PER_STEP), block.number));
    }
    const storageProofs = parts.flatMap((part) => part.storageProofs);
    return { ...parts[0]!, storageProofs };
  }
  return proveAll();
}
