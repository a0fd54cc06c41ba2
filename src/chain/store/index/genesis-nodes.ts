import { keccak256, keccak256Message, keccakMessage } from "../../../primitives/keccak.ts";
import { allocateShared } from "../../../primitives/slab.ts";
import type { KvLoad, SortedRows } from "../../../storage/kv.ts";
import { HASH_LENGTH } from "../../../trie/node.ts";
import type { NodeSink } from "../../../trie/subtrie.ts";
import { HISTORY_DEPTH, wholeVersionRow } from "../nodes/node-history.ts";
import { firstNodeRow } from "../nodes/trie-node-table.ts";

/** A path ends in this byte, and a shorter key may not be below a longer one (node-history.ts). */
const PATH_END = 0x10;

/**
 * The rows of the nodes of a state, which come in post-order: those of the account trie, those of the storage tries, and the versions of
 * the nodes near the roots.
 */
export class GenesisNodes {
  readonly #accountNodes: SortedRows;
  readonly #storageNodes: SortedRows;
  readonly #versions: SortedRows;
  readonly #firstVersions: SortedRows;
  /** Versions of the account trie are among those of the first storage tries, and come when all of those are there. */
  readonly #early: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];

  constructor(rows: KvLoad) {
    this.#accountNodes = rows.run();
    this.#storageNodes = rows.run();
    this.#firstVersions = rows.run();
    this.#versions = rows.run();
  }

  /** Receives the nodes of the trie of `owner`, as in TrieNodeReader. */
  sinkOf(owner: Uint8Array): Pick<NodeSink, "add"> {
    const nodes = owner.length === 0 ? this.#accountNodes : this.#storageNodes;
    const isEarly = owner.length === 0 || owner[0]! <= PATH_END;
    return {
      add: (path, depth, rlp, length) => {
        const hash = allocateShared(HASH_LENGTH);
        const bytes = length === rlp.length ? rlp : rlp.subarray(0, length);
        if (rlp === keccakMessage) keccak256Message(length, hash, 0);
        else hash.set(keccak256(bytes));
        const place = path.subarray(0, depth);
        const { key, value } = firstNodeRow(owner, place, hash, bytes);
        nodes.put(key, value);
        if (depth <= HISTORY_DEPTH) {
          const version = wholeVersionRow(owner, place, 0, bytes);
          if (isEarly) this.#early.push(version);
          else this.#versions.put(version.key, version.value);
        }
        return hash;
      },
    };
  }

  /** After the last node. */
  finish(): void {
    this.#early.sort((a, b) => Buffer.compare(a.key, b.key));
    for (const { key, value } of this.#early) this.#firstVersions.put(key, value);
  }
}
