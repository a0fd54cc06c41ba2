import type { NodeError } from "../../base/errors.ts";
import { BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import type { RemoteChain } from "../../chain/reader.ts";
import type { Account } from "../../evm/state/account.ts";
import type { StateChanges, StateReader } from "../../evm/state/reader.ts";
import type { StateTrie } from "../../evm/state/state-trie.ts";
import { MissingTrieNodeError } from "../../store/trie/node-store.ts";
import { type ForkOfflineError, ForkUnsupportedError } from "./errors.ts";
import type { RemoteCall } from "./remote-calls.ts";
import type { RemoteState } from "./remote-state.ts";

const OFFLINE: ForkOfflineError["code"] = "FORK_REMOTE_OFFLINE";
/**
 * Every block writes to other slots of these contracts (EIP-4788, EIP-2935), so no cache has them. Without the remote chain they are empty:
 * else there would be no block at all.
 */
const RING_BUFFERS: ReadonlySet<Address> = new Set([BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS]);

/** By block number, what this chain has changed of an account: the rest of it is the remote chain's. */
type Changed = {
  /** The account is stored here from this block on. */
  readonly since: number;
  /** All its slots are: it was deleted, or did not exist. */
  clearedSince: number;
  readonly slots: Map<Hash, number>;
};

/**
 * The state of a chain that continues another one: what its own blocks changed is stored, all else is read from the remote chain, at the
 * block that was forked. A row that is absent in the store may be deleted or never read, so what was changed is remembered.
 */
export class ForkedState implements RemoteChain {
  readonly #remote: RemoteState;
  readonly #changed = new Map<Address, Changed>();
  /** Codes that this chain stores. */
  readonly #storedCodes = new Set<Hash>();
  /** An account of the remote chain with the code. */
  readonly #codeOwners = new Map<Hash, Address>();

  constructor(remote: RemoteState) {
    this.#remote = remote;
  }

  /** Block `number` was stored. */
  apply(number: number, { accounts, codes }: StateChanges): void {
    for (const hash of codes.keys()) this.#storedCodes.add(hash);
    for (const { address, account, storage, storageCleared } of accounts) {
      let changed = this.#changed.get(address);
      if (changed === undefined) {
        changed = { since: number, clearedSince: Number.POSITIVE_INFINITY, slots: new Map() };
        this.#changed.set(address, changed);
      }
      if (storageCleared || account === null) {
        changed.clearedSince = Math.min(changed.clearedSince, number);
      }
      for (const slot of storage.keys()) {
        if (!changed.slots.has(slot)) changed.slots.set(slot, number);
      }
    }
  }

  /** The blocks after `number` are gone. */
  dropAfter(number: number): void {
    for (const [address, changed] of this.#changed) {
      if (changed.since > number) {
        this.#changed.delete(address);
        continue;
      }
      if (changed.clearedSince > number) changed.clearedSince = Number.POSITIVE_INFINITY;
      for (const [slot, since] of changed.slots) if (since > number) changed.slots.delete(slot);
    }
  }

  hashAt(number: number): Hash | undefined {
    return this.#remote.hashAt(number);
  }

  /** As of `RemoteState`. */
  missedBy(run: () => unknown): readonly RemoteCall[] {
    return this.#remote.missedBy(run);
  }

  #remoteSlot(address: Address, slot: Hash): bigint {
    try {
      return this.#remote.storage(address, slot);
    } catch (error) {
      const isOffline = (error as NodeError).code === OFFLINE;
      if (isOffline && RING_BUFFERS.has(address)) return 0n;
      throw error;
    }
  }

  under(number: number, state: StateReader): StateReader {
    const isStored = (address: Address) => {
      const since = this.#changed.get(address)?.since;
      return since !== undefined && since <= number;
    };
    const isCleared = (address: Address) => {
      const since = this.#changed.get(address)?.clearedSince;
      return since !== undefined && since <= number;
    };
    const ownsSlot = (address: Address, slot: Hash) => {
      const since = this.#changed.get(address)?.slots.get(slot);
      return since !== undefined && since <= number;
    };
    return {
      account: (address) => {
        const account = isStored(address) ? state.account(address) : accountOf(this.#remote.account(address));
        if (account !== undefined && account.codeHash !== EMPTY_CODE_HASH) {
          if (!this.#codeOwners.has(account.codeHash)) {
            this.#codeOwners.set(account.codeHash, address);
          }
        }
        return account;
      },
      storage: (address, slot) => {
        if (isCleared(address) || ownsSlot(address, slot)) return state.storage(address, slot);
        if (this.#remote.account(address) === undefined) return state.storage(address, slot);
        return this.#remoteSlot(address, slot);
      },
      code: (hash) => {
        if (this.#storedCodes.has(hash)) return state.code(hash);
        const owner = this.#codeOwners.get(hash);
        const account = owner && this.#remote.account(owner);
        return account?.codeHash === hash ? account.code : state.code(hash);
      },
      storageEntries: (address) => {
        if (isCleared(address) || this.#remote.account(address) === undefined) {
          return state.storageEntries(address);
        }
        throw new ForkUnsupportedError("the slots of a contract of the forked chain cannot be listed", { address });
      },
    };
  }
}

function accountOf(remote: Account | undefined): Account | undefined {
  if (remote === undefined) return undefined;
  const { nonce, balance, codeHash } = remote;
  return { nonce, balance, codeHash };
}

/**
 * `trie` under another name for one of its roots. The header of the forked block has the root of the remote state, of which only what this chain
 * adds is stored. Where the name is the root of the empty state, it means that one until `stored` is there.
 */
export function aliasRoot(trie: StateTrie, stored: Hash, alias: Hash): StateTrie {
  function at<T>(root: Hash, use: (root: Hash) => T): T {
    if (root !== alias) return use(root);
    try {
      return use(stored);
    } catch (error) {
      if (alias !== EMPTY_TRIE_ROOT || !(error instanceof MissingTrieNodeError)) throw error;
      return use(alias);
    }
  }
  return {
    update(parentRoot, changes, known) {
      const { root, nodes } = at(parentRoot, (named) => trie.update(named, changes, known));
      return { root: root === stored ? alias : root, nodes };
    },
    prefetch: (root, address, slots, known) => at(root, (named) => trie.prefetch(named, address, slots, known)),
    prove: (root, address, slots) => at(root, (named) => trie.prove(named, address, slots)),
  };
}
