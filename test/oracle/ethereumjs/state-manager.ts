import type { AccountFields, StateManagerInterface } from "@ethereumjs/common";
import type * as Util from "@ethereumjs/util";
import type { Address } from "../../../src/base/primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../src/base/primitives/hash.ts";
import { keccak256Hash } from "../../../src/base/primitives/keccak.ts";
import type { EvmAccount, State } from "../../../src/evm/machine/state-port.ts";

type LibraryAddress = Util.Address;

/** The library's state manager over our `State`; it must be given one with `begin` before each execution. */
export type StateManagerAdapter = {
  /** For the library; its methods answer at once although their types say Promise. */
  readonly manager: StateManagerInterface;
  /** From here on everything goes to `state`, whose slots are now the original values of EIP-2200. */
  begin(state: State): void;
};

const EMPTY_CODE_HASH = keccak256Hash(new Uint8Array(0));

/** Any root but that of the empty trie: the library only asks whether there is storage at all. */
const SOME_STORAGE_ROOT = new Uint8Array(32).fill(1);

/** @param util the instance of @ethereumjs/util that the library itself uses */
export function createStateManager(util: typeof Util): StateManagerAdapter {
  let state: State;
  let originals = new Map<string, bigint>();
  let snapshots: number[] = [];

  /** Accounts are read often and a scan of storage is expensive: the root is computed only on request. */
  class AccountWithLazyRoot extends util.Account {
    private readonly owner: Address;
    constructor(owner: Address, account: EvmAccount) {
      super(account.nonce, account.balance, util.KECCAK256_RLP, hashToBytes(account.codeHash));
      this.owner = owner;
    }
    override get storageRoot() {
      return state.hasStorage(this.owner) ? SOME_STORAGE_ROOT : util.KECCAK256_RLP;
    }
  }

  const accountOf = (address: LibraryAddress): Util.Account | undefined => {
    const key = address.toString() as Address;
    const account = state.account(key);
    return account && new AccountWithLazyRoot(key, account);
  };

  const setAccount = (key: Address, account: Util.Account): void => {
    const codeHash = hashFromBytes(account.codeHash);
    state.setAccount(key, { nonce: account.nonce, balance: account.balance, codeHash });
  };

  const codeOf = (address: LibraryAddress): Uint8Array => {
    const account = state.account(address.toString() as Address);
    return state.code(account?.codeHash ?? EMPTY_CODE_HASH);
  };

  const manager = {
    getAccount: accountOf,
    putAccount(address: LibraryAddress, account?: Util.Account) {
      const key = address.toString() as Address;
      if (account) setAccount(key, account);
      else state.deleteAccount(key);
    },
    deleteAccount: (address: LibraryAddress) => state.deleteAccount(address.toString() as Address),
    modifyAccountFields(address: LibraryAddress, fields: AccountFields) {
      const account = accountOf(address) ?? new util.Account();
      account.nonce = fields.nonce ?? account.nonce;
      account.balance = fields.balance ?? account.balance;
      account.codeHash = fields.codeHash ?? account.codeHash;
      setAccount(address.toString() as Address, account);
    },
    putCode(address: LibraryAddress, code: Uint8Array) {
      const key = address.toString() as Address;
      const { nonce, balance } = state.account(key) ?? { nonce: 0n, balance: 0n };
      state.setAccount(key, { nonce, balance, codeHash: state.putCode(code) });
    },
    getCode: codeOf,
    getCodeSize: (address: LibraryAddress) => codeOf(address).length,
    getStorage: (address: LibraryAddress, slot: Uint8Array) =>
      bigintToBytes(state.storage(address.toString() as Address, hashFromBytes(slot))),
    putStorage(address: LibraryAddress, slot: Uint8Array, value: Uint8Array) {
      const owner = address.toString() as Address;
      const hash = hashFromBytes(slot);
      const name = originalName(owner, hash);
      if (!originals.has(name)) originals.set(name, state.storage(owner, hash));
      state.setStorage(owner, hash, bytesToBigint(value));
    },
    // A creation requires empty storage (EIP-7610).
    clearStorage: () => undefined,
    checkpoint: () => void snapshots.push(state.snapshot()),
    commit: () => void snapshots.pop(),
    revert: () => state.revertTo(snapshots.pop()!),
    originalStorageCache: {
      get(address: LibraryAddress, slot: Uint8Array) {
        const owner = address.toString() as Address;
        const hash = hashFromBytes(slot);
        const value = originals.get(originalName(owner, hash)) ?? state.storage(owner, hash);
        return bigintToBytes(value);
      },
      clear: () => undefined,
    },
  };

  return {
    manager: manager as unknown as StateManagerInterface,
    begin(next) {
      state = next;
      originals = new Map();
      snapshots = [];
    },
  };
}

function originalName(address: Address, slot: Hash): string {
  return `${address}${slot}`;
}
