import { equalBytes } from "../../../base/primitives/bytes.ts";
import { hashFromBytes } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { Account } from "../../../evm/state/account.ts";
import { InvalidStateError } from "../../../evm/state/state-changes.ts";
import { decodeTrieAccount, encodeSlotValue, encodeTrieAccount } from "../../../evm/state/trie-account.ts";
import { HASH_ONLY } from "../../../store/trie/ordered-trie-root.ts";
import { descend, InvalidProofError } from "../../../store/trie/proof.ts";
import type { NodeSink } from "../../../store/trie/subtrie.ts";
import { TrieBuilder } from "../../../store/trie/trie-builder.ts";

/** Receives the nodes of a trie in post-order: without an owner of the account trie, else of the storage trie of the account with this hash. */
export type StateSinkOf = (owner: Uint8Array | undefined) => Pick<NodeSink, "add">;

type LastAccount = {
  readonly hash: Uint8Array;
  readonly account: Account;
  /** Its hash of the newest slot. */
  lastSlot: Uint8Array | undefined;
  /** A proof has shown it: the account is in the trie already. */
  provenRoot: Uint8Array | undefined;
};

/**
 * The tries of a state whose accounts come in the order of their hashes, each with its slots in the order of theirs. Memory holds the path to the newest
 * slot, however large the state is.
 */
export class OrderedState {
  readonly #sinkOf: StateSinkOf;
  readonly #accounts: TrieBuilder;
  readonly #storage = new TrieBuilder(HASH_ONLY);
  #last: LastAccount | undefined;

  constructor(sinkOf: StateSinkOf = () => HASH_ONLY) {
    this.#sinkOf = sinkOf;
    this.#accounts = new TrieBuilder(sinkOf(undefined));
  }

  /** @throws InvalidStateError where it is not after the last one */
  addAccount(hash: Uint8Array, account: Account): void {
    const last = this.#last;
    if (last !== undefined && Buffer.compare(last.hash, hash) >= 0) {
      throw new InvalidStateError("accounts are not in the order of their hashes", { hash: hashFromBytes(hash) });
    }
    this.#endAccount();
    this.#last = { hash, account, lastSlot: undefined, provenRoot: undefined };
  }

  /** Adds a slot of the account that was added last. @throws InvalidStateError where it is not after the last one */
  addSlot(hash: Uint8Array, value: bigint): void {
    const last = this.#last!;
    if (last.lastSlot === undefined) this.#storage.restart(this.#sinkOf(last.hash));
    else if (Buffer.compare(last.lastSlot, hash) >= 0) {
      throw new InvalidStateError("slots are not in the order of their hashes", { hash: hashFromBytes(hash) });
    }
    const leaf = encodeSlotValue(value);
    if (leaf === undefined) throw new InvalidStateError("a slot has the value 0", { hash: hashFromBytes(hash) });
    this.#storage.add(hash, 0, leaf);
    last.lastSlot = hash;
  }

  /** The root of the state. */
  finish(): Uint8Array {
    this.#endAccount();
    this.#last = undefined;
    return this.#accounts.finish();
  }

  /**
   * Asserts that the state with `root` begins with exactly the added accounts, and the last of them with exactly the added slots.
   * @param proof the nodes on the way to the last account from the root on, then those on the way to its last slot
   * @throws InvalidProofError, InvalidRlpError
   */
  assertBegins(root: Uint8Array, proof: readonly Uint8Array[]): void {
    const last = this.#last;
    if (last === undefined) throw new InvalidProofError("a proof of nothing");
    let used = 0;
    const resolve = (hash: Uint8Array): Uint8Array => {
      const node = proof[used++];
      if (node === undefined || !equalBytes(keccak256(node), hash)) {
        throw new InvalidProofError(`node ${used - 1} is not the one on the way`);
      }
      return node;
    };
    const leaf = descend(root, last.hash, resolve);
    if (leaf === undefined) throw new InvalidProofError("the last account is not in the trie");
    const { storageRoot } = decodeTrieAccount(leaf);
    if (!equalBytes(leaf, encodeTrieAccount(last.account, storageRoot))) {
      throw new InvalidProofError("the last account is another one in the trie");
    }
    if (last.provenRoot === undefined) this.#accounts.add(last.hash, 0, leaf);
    last.provenRoot = storageRoot;
    used = 0;
    if (!this.#accounts.isBeginningOf(root, resolve)) throw new InvalidProofError("the trie has other accounts");
    if (last.lastSlot !== undefined && !this.#storage.isBeginningOf(storageRoot, resolve)) {
      throw new InvalidProofError("the last account has other slots");
    }
    if (used < proof.length) throw new InvalidProofError(`${proof.length - used} nodes after the end of the way`);
  }

  /** @throws InvalidStateError where a proof has shown another root of its storage */
  #endAccount(): void {
    const last = this.#last;
    if (last === undefined) return;
    const root = this.#storage.finish();
    if (last.provenRoot === undefined) this.#accounts.add(last.hash, 0, encodeTrieAccount(last.account, root));
    else if (!equalBytes(last.provenRoot, root)) {
      throw new InvalidStateError("an account lacks slots", { hash: hashFromBytes(last.hash) });
    }
  }
}
