import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { KnownState, StateTrie } from "../../state/state-trie.ts";
import type { WorldState } from "../../state/world-state.ts";

/** Slots read before the clock is looked at again: some 100 µs. */
const SLOTS = 16;

/** Reads what the state root of an open block will need of the trie, while the block waits for its time. */
export class TriePrefetch {
  readonly #trie: Pick<StateTrie, "prefetch">;
  readonly #root: Hash;
  /** Slots read of each account. */
  readonly #read = new Map<Address, Set<Hash>>();

  constructor(trie: Pick<StateTrie, "prefetch">, root: Hash) {
    this.#trie = trie;
    this.#root = root;
  }

  /**
   * Reads the paths of what was written to `state` and not read yet.
   * @param deadline as `performance.now()` has it
   * @returns true where it has ended before all are read
   */
  run(state: Pick<WorldState, "written" | "readOfBase">, deadline: number): boolean {
    const known = state.readOfBase();
    for (const { address, slots } of state.written()) {
      const read = this.#read.get(address);
      let next: Hash[] = [];
      for (const slot of slots) {
        if (read?.has(slot)) continue;
        next.push(slot);
        if (next.length < SLOTS) continue;
        this.#prefetch(address, next, known);
        next = [];
        if (performance.now() > deadline) return true;
      }
      if (next.length === 0 && this.#read.has(address)) continue;
      this.#prefetch(address, next, known);
      if (performance.now() > deadline) return true;
    }
    return false;
  }

  #prefetch(address: Address, slots: readonly Hash[], known: KnownState): void {
    this.#trie.prefetch(this.#root, address, slots, known);
    const read = this.#read.get(address);
    if (read === undefined) this.#read.set(address, new Set(slots));
    else for (const slot of slots) read.add(slot);
  }
}
