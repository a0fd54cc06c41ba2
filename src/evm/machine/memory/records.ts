import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Precompile, State } from "../state-port.ts";
import type { CodeCache } from "./code-cache.ts";
import { flag, globals, INDEX, INDEX_SLOTS_MIN, RECORD_SIZE, RECORDS, record, TRANSIENT, UNDO } from "./layout.ts";
import type { LinearMemory } from "./linear-memory.ts";

/** What is warm before the first opcode (EIP-2929). */
export type WarmSet = {
  readonly addresses: readonly Address[] | ReadonlySet<Address>;
  /** Precompiles of the fork: warm also where a caller's overrides took them away, while moved ones are not. */
  readonly precompiles: ReadonlyMap<Address, Precompile>;
  readonly slots: ReadonlyMap<Address, ReadonlySet<string>>;
};

/** The accounts and slots of one execution in linear memory: read from `State` when first looked at, written back at the end. */
export class Records {
  readonly #memory: LinearMemory;
  #addresses: (Address | undefined)[] = [];
  /** Keys of slots that were read from the state */
  #slots: (Hash | undefined)[] = [];
  #named: Address | undefined;
  #state!: State;
  #codes!: CodeCache;
  #warm!: WarmSet;
  #precompiles!: ReadonlyMap<Address, Precompile>;
  #hasDelegations = false;

  constructor(memory: LinearMemory) {
    this.#memory = memory;
  }

  /** Begins an execution with no records. */
  reset(options: {
    readonly state: State;
    readonly codes: CodeCache;
    readonly warm: WarmSet;
    readonly precompiles: ReadonlyMap<Address, Precompile>;
    readonly hasDelegations: boolean;
  }): void {
    this.#state = options.state;
    this.#codes = options.codes;
    this.#warm = options.warm;
    this.#precompiles = options.precompiles;
    this.#hasDelegations = options.hasDelegations;
    this.#addresses = [];
    this.#slots = [];
    this.#named = undefined;
    const memory = this.#memory;
    memory.bytes.fill(0, INDEX, INDEX + INDEX_SLOTS_MIN * 4);
    memory.set32(globals.indexMask, INDEX_SLOTS_MIN - 1);
    memory.set32(globals.recordTop, RECORDS);
    memory.set32(globals.recordCount, 0);
    memory.set32(globals.undoTop, UNDO);
    memory.set64(globals.refund, 0n);
  }

  addressOf(account: number): Address {
    const index = (account - RECORDS) / RECORD_SIZE;
    let address = this.#addresses[index];
    if (address === undefined) {
      address = this.#memory.address(account + record.key);
      this.#addresses[index] = address;
    }
    return address;
  }

  /** As `addressOf`, for the accounts of this execution; also when the next one has begun. */
  lastingAddressOf(): (account: number) => Address {
    const addresses = this.#addresses;
    return (account) => addresses[(account - RECORDS) / RECORD_SIZE]!;
  }

  /** While `find` runs, a new account is known to be `address` and need not be spelt from its key. */
  naming(address: Address, find: () => number): number {
    this.#named = address;
    const entry = find();
    this.#named = undefined;
    return entry;
  }

  /** Fills a new record. */
  load(entry: number): void {
    const memory = this.#memory;
    const owner = memory.get32(entry + record.owner);
    if (owner === 0) this.#loadAccount(entry);
    else if ((owner & TRANSIENT) === 0) this.#loadSlot(entry, this.addressOf(owner));
  }

  #loadAccount(entry: number): void {
    const memory = this.#memory;
    if (this.#named) this.#addresses[(entry - RECORDS) / RECORD_SIZE] = this.#named;
    const address = this.addressOf(entry);
    const account = this.#state.account(address);
    let flags = 0;
    if (this.#precompiles.has(address)) flags |= flag.precompile;
    if (this.#isWarm(address)) flags |= flag.warm;
    if (account !== undefined) {
      flags |= flag.exists;
      const code = this.#codes.byHash(account.codeHash, (hash) => this.#state.code(hash));
      if (this.#hasDelegations && isDelegation(code.bytes)) flags |= flag.delegated;
      memory.setWord(entry + record.value, account.balance);
      memory.set64(entry + record.nonce, account.nonce);
      memory.putWord(entry + record.original, code.hashWord);
      memory.set32(entry + record.codeId, code.id);
      memory.set32(entry + record.codeSize, code.bytes.length);
    } else {
      memory.putWord(entry + record.original, this.#codes.byId(0).hashWord);
    }
    memory.set32(entry + record.flags, flags);
  }

  #isWarm(address: Address): boolean {
    const { addresses, precompiles } = this.#warm;
    if (precompiles.has(address)) return true;
    return addresses instanceof Set ? addresses.has(address) : (addresses as readonly Address[]).includes(address);
  }

  #loadSlot(entry: number, address: Address): void {
    const memory = this.#memory;
    const slot = memory.hash(entry + record.key);
    this.#slots[(entry - RECORDS) / RECORD_SIZE] = slot;
    if (this.#warm.slots.size > 0 && this.#warm.slots.get(address)?.has(slot)) {
      memory.set32(entry + record.flags, flag.warm);
    }
    const value = this.#state.storage(address, slot);
    if (value === 0n) return;
    memory.setWord(entry + record.value, value);
    memory.setWord(entry + record.original, value);
  }

  /** Writes every change to the state. */
  writeBack(): void {
    const memory = this.#memory;
    const state = this.#state;
    const end = memory.get32(globals.recordTop);
    for (let entry = RECORDS; entry < end; entry += RECORD_SIZE) {
      if (memory.get32(entry + record.owner) !== 0) continue;
      const flags = memory.get32(entry + record.flags);
      if ((flags & (flag.dirty | flag.touched)) === 0 || (flags & flag.exists) === 0) continue;
      const address = this.addressOf(entry);
      if (flags & flag.dirty) {
        const code = this.#codes.byId(memory.get32(entry + record.codeId));
        if (flags & flag.created && code.id !== 0) state.putCode(code.bytes);
        state.setAccount(address, {
          nonce: memory.get64(entry + record.nonce),
          balance: memory.word(entry + record.value),
          codeHash: code.hash,
        });
      }
      if (flags & flag.touched) state.touch(address);
    }
    for (let entry = RECORDS; entry < end; entry += RECORD_SIZE) {
      const owner = memory.get32(entry + record.owner);
      if (owner === 0 || owner & TRANSIENT || !this.#isChanged(entry)) continue;
      const slot = this.#slots[(entry - RECORDS) / RECORD_SIZE]!;
      state.setStorage(this.addressOf(owner), slot, memory.word(entry + record.value));
    }
  }

  /** The accounts to be deleted at the end of the transaction. */
  selfDestructs(): Address[] {
    const memory = this.#memory;
    const found: Address[] = [];
    const end = memory.get32(globals.recordTop);
    for (let entry = RECORDS; entry < end; entry += RECORD_SIZE) {
      if (memory.get32(entry + record.owner) !== 0) continue;
      if (memory.get32(entry + record.flags) & flag.selfDestructed) {
        found.push(this.addressOf(entry));
      }
    }
    return found;
  }

  #isChanged(entry: number): boolean {
    const { u32 } = this.#memory;
    const value = (entry + record.value) >>> 2;
    const original = (entry + record.original) >>> 2;
    for (let i = 0; i < 8; i++) if (u32[value + i] !== u32[original + i]) return true;
    return false;
  }
}

/** EIP-7702: 0xef0100 and an address */
function isDelegation(code: Uint8Array): boolean {
  return code.length === 23 && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00;
}
