import { equalBytes } from "../../base/primitives/bytes.ts";
import type { StateSinkOf } from "../../chain/store/nodes/ordered-state.ts";
import { nibblesOf } from "../../store/trie/nibbles.ts";
import { HASH_ONLY } from "../../store/trie/ordered-trie-root.ts";

/** The end of a part of a state, with the known nodes on its path, from below. */
type Boundary = {
  readonly account: Uint8Array;
  readonly accountPath: Uint8Array;
  readonly accountNodes: Uint8Array[];
  /** Path of the last slot, if the last account has slots in this part or before. */
  readonly slotPath: Uint8Array | undefined;
  readonly slotNodes: Uint8Array[];
};

/**
 * Collects the proof for the end of each part of a state while its tries are computed (`OrderedState.assertBegins`). This is the cheapest way:
 * the nodes of a proof are hashed anyway.
 */
export class BoundaryProofs {
  readonly #boundaries: Boundary[] = [];

  /** A part ends with this account and this slot, both hashes. */
  end(account: Uint8Array, slot: Uint8Array | undefined): void {
    this.#boundaries.push({
      account,
      accountPath: nibblesOf(account),
      accountNodes: [],
      slotPath: slot && nibblesOf(slot),
      slotNodes: [],
    });
  }

  /** Receives nodes of the tries. */
  readonly sinkOf: StateSinkOf = (owner) => ({
    add: (path, depth, rlp, length) => {
      this.#collect(owner, path, depth, rlp, length);
      return HASH_ONLY.add(path, depth, rlp, length);
    },
  });

  /** The proofs of all parts, in order; call it after the last node. */
  proofs(): readonly (readonly Uint8Array[])[] {
    return this.#boundaries.map(({ accountNodes, slotNodes }) => [
      ...accountNodes.toReversed(),
      ...slotNodes.toReversed(),
    ]);
  }

  /** A node is on the path to the newest ends or to none: it arrives as soon as nothing below it can follow. */
  #collect(owner: Uint8Array | undefined, path: Uint8Array, depth: number, rlp: Uint8Array, length: number): void {
    let node: Uint8Array | undefined;
    for (let i = this.#boundaries.length - 1; i >= 0; i--) {
      const { account, accountPath, accountNodes, slotPath, slotNodes } = this.#boundaries[i]!;
      if (owner !== undefined && !equalBytes(account, owner)) return;
      const way = owner === undefined ? accountPath : slotPath;
      const order = way === undefined ? -1 : comparePrefix(way, path, depth);
      if (order < 0) return;
      // A part can end in an account that is not in the trie yet.
      if (order > 0) continue;
      node ??= rlp.slice(0, length);
      (owner === undefined ? accountNodes : slotNodes).push(node);
    }
  }
}

function comparePrefix(way: Uint8Array, path: Uint8Array, depth: number): number {
  for (let i = 0; i < depth; i++) if (way[i] !== path[i]) return way[i]! - path[i]!;
  return 0;
}
