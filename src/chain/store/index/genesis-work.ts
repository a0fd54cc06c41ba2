import { invariant, NodeError } from "../../../errors.ts";
import type { KvLoad, LoadPlace } from "../../../storage/kv.ts";
import { byKey, sortByKey } from "../../../storage/row-order.ts";
import { TRIE_KEY_LENGTH } from "../../../trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";
import { buildStateSubtrie, hashAddresses, hashSlots, keysOf, type StateKeys } from "../nodes/build-state-trie.ts";
import { type RecordPlace, type Row, writeStateRows, writeTrieRows } from "./genesis-rows.ts";

/** Parts of the accounts: those whose key, or whose address, begins with the same nibble. */
export const PARTS = 16;
/** Keys that a thread hashes before it asks for more: some milliseconds. */
const KEYS_A_CHUNK = 8_192;
const ADDRESS_LENGTH = 20;
/** Length of a reference of a branch, then its bytes. */
const REFERENCE_LENGTH = 1 + 32;
/** A thread that has finished nothing for so long has ended: no part of a million accounts takes a twentieth of it. */
export const SILENCE_MS_MAX = 60_000;
const LOOK_MS = 1_000;

/** Words that the threads share. */
export const WORD = {
  stage: 0,
  /** 0: no other thread has begun; 1: it has; 2: none may begin any more. */
  begun: 1,
  /** The other thread has written all it ever will: 1 where it has sent what it wrote, 2 where it has failed. */
  ended: 2,
  /** Of each kind of work, how much was begun with, then how much is done. */
  keys: 3,
  tries: 5,
  orders: 7,
  rows: 9,
  count: 11,
} as const;

/** What may be done; a number of WORD.stage. */
export const STAGE = { keys: 0, tries: 1, rows: 2, stopped: 3 } as const;

/** What threads share that load a genesis state together. */
export type GenesisJob = {
  readonly words: Int32Array<SharedArrayBuffer>;
  /** Of the record in the log: position and offset. From STAGE.rows on. */
  readonly place: Float64Array<SharedArrayBuffer>;
  /** As StateEntries takes it. */
  readonly state: Uint8Array<SharedArrayBuffer>;
  readonly addresses: Uint8Array<SharedArrayBuffer>;
  readonly slots: Uint8Array<SharedArrayBuffer>;
  /** Numbers of the accounts part by part, by their keys and by their addresses, and where each part begins. From STAGE.tries on. */
  readonly byHash: Uint32Array<SharedArrayBuffer>;
  readonly byAddress: Uint32Array<SharedArrayBuffer>;
  readonly hashStarts: Uint32Array<SharedArrayBuffer>;
  readonly addressStarts: Uint32Array<SharedArrayBuffer>;
  /** Of the parts that are no part of another trie: how the root refers to them. */
  readonly references: Uint8Array<SharedArrayBuffer>;
  readonly load: LoadPlace;
};

/** The other thread has failed, or was ended. */
export class GenesisThreadError extends NodeError {
  readonly code = "WORKER_GIVEN_UP";
}

export function genesisJob(entries: StateEntries, load: LoadPlace): GenesisJob {
  const { accountCount, slotCount } = entries;
  const shared = (length: number) => new SharedArrayBuffer(length);
  return {
    words: new Int32Array(shared(4 * WORD.count)),
    place: new Float64Array(shared(16)),
    state: inSharedMemory(entries.bytes),
    addresses: new Uint8Array(shared(accountCount * TRIE_KEY_LENGTH)),
    slots: new Uint8Array(shared(slotCount * TRIE_KEY_LENGTH)),
    byHash: new Uint32Array(shared(accountCount * 4)),
    byAddress: new Uint32Array(shared(accountCount * 4)),
    hashStarts: new Uint32Array(shared(4 * (PARTS + 1))),
    addressStarts: new Uint32Array(shared(4 * (PARTS + 1))),
    references: new Uint8Array(shared(PARTS * REFERENCE_LENGTH)),
    load,
  };
}

function inSharedMemory(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const { buffer, byteOffset, length } = bytes;
  if (buffer instanceof SharedArrayBuffer) return new Uint8Array(buffer, byteOffset, length);
  const copy = new Uint8Array(new SharedArrayBuffer(length));
  copy.set(bytes);
  return copy;
}

/** One thread's share of the rows of a genesis state: it takes what nobody has begun with until nothing is left. */
export class GenesisWork {
  readonly #job: GenesisJob;
  readonly #rows: KvLoad;
  readonly #entries: StateEntries;
  readonly #keys: StateKeys;
  readonly #silenceMsMax: number;
  /** For `writeEarlyVersions`. */
  readonly early: Row[] = [];

  /** @param silenceMsMax how long the other thread may do nothing while this one waits for it */
  constructor(job: GenesisJob, rows: KvLoad, entries: StateEntries, silenceMsMax: number) {
    this.#job = job;
    this.#rows = rows;
    this.#entries = entries;
    this.#silenceMsMax = silenceMsMax;
    this.#keys = keysOf(entries, job.addresses, job.slots);
  }

  get #chunks(): { readonly ofAddresses: number; readonly all: number } {
    const ofAddresses = Math.ceil(this.#entries.accountCount / KEYS_A_CHUNK);
    return { ofAddresses, all: ofAddresses + Math.ceil(this.#entries.slotCount / KEYS_A_CHUNK) };
  }

  hashKeys(): void {
    const { addresses, slots } = this.#job;
    const { accountCount, slotCount } = this.#entries;
    const { ofAddresses, all } = this.#chunks;
    this.#take(WORD.keys, all, (chunk) => {
      const from = (chunk < ofAddresses ? chunk : chunk - ofAddresses) * KEYS_A_CHUNK;
      const to = from + KEYS_A_CHUNK;
      if (chunk < ofAddresses) hashAddresses(this.#entries, addresses, from, Math.min(to, accountCount));
      else hashSlots(this.#entries, slots, from, Math.min(to, slotCount));
    });
  }

  /** Waits for all keys, and divides the accounts into parts; false where one part has all of them. */
  divide(): boolean {
    this.wait(WORD.keys + 1, this.#chunks.all);
    const { addresses, byHash, byAddress, hashStarts, addressStarts } = this.#job;
    const { accountCount } = this.#entries;
    divideByNibble(byHash, hashStarts, (index) => addresses[index * TRIE_KEY_LENGTH]! >> 4);
    divideByNibble(byAddress, addressStarts, (index) => this.#entries.firstByte(index) >> 4);
    return hashStarts.every((start, i) => i === 0 || start - hashStarts[i - 1]! < accountCount);
  }

  buildTries(): void {
    const { byHash, hashStarts, references } = this.#job;
    this.#take(WORD.tries, PARTS, (part) => {
      const order = byHash.subarray(hashStarts[part], hashStarts[part + 1]);
      if (order.length === 0) return;
      sortByKey(order, this.#keys.addresses, TRIE_KEY_LENGTH);
      const { built, early } = writeTrieRows(this.#rows, this.#entries, this.#keys, (sinkOf, onAccount) =>
        buildStateSubtrie({ entries: this.#entries, keys: this.#keys, order, sinkOf, onAccount }),
      );
      references[part * REFERENCE_LENGTH] = built.length;
      references.set(built, part * REFERENCE_LENGTH + 1);
      this.early.push(...early);
    });
  }

  /** Waits for all subtries: how the root refers to them. */
  references(): readonly (Uint8Array | undefined)[] {
    this.wait(WORD.tries + 1, PARTS);
    return Array.from({ length: PARTS }, (_, part) => {
      const start = part * REFERENCE_LENGTH + 1;
      const length = this.#job.references[start - 1]!;
      return length === 0 ? undefined : this.#job.references.slice(start, start + length);
    });
  }

  sortAddresses(): void {
    this.#take(WORD.orders, PARTS, (part) => sortByAddress(this.#entries, this.#byAddress(part)));
  }

  writeRows(): void {
    this.wait(WORD.orders + 1, PARTS);
    const [position, offset] = this.#job.place;
    const place: RecordPlace = { position: position!, offset: offset! };
    this.#take(WORD.rows, PARTS, (part) =>
      writeStateRows(this.#rows, this.#entries, this.#keys, this.#byAddress(part), place),
    );
  }

  #byAddress(part: number): Uint32Array {
    const { byAddress, addressStarts } = this.#job;
    return byAddress.subarray(addressStarts[part], addressStarts[part + 1]);
  }

  /** Does one piece of work after the other, of `count`, that no thread has begun with. */
  #take(word: number, count: number, work: (piece: number) => void): void {
    const { words } = this.#job;
    for (;;) {
      const piece = Atomics.add(words, word, 1);
      if (piece >= count || Atomics.load(words, WORD.stage) === STAGE.stopped) return;
      work(piece);
      Atomics.add(words, word + 1, 1);
      Atomics.notify(words, word + 1);
    }
  }

  /** Lets the next stage begin. */
  enter(stage: number): void {
    Atomics.store(this.#job.words, WORD.stage, stage);
    Atomics.notify(this.#job.words, WORD.stage);
  }

  /** Waits until a word is `value` or more. @throws GenesisThreadError */
  wait(word: number, value: number): void {
    waitFor(this.#job, word, value, this.#silenceMsMax);
  }
}

/** Waits until a word is `value` or more. @throws GenesisThreadError where another thread fails, or does nothing any more */
export function waitFor({ words, load }: GenesisJob, word: number, value: number, silenceMsMax: number): void {
  const progress = () => words.reduce((sum, done) => sum + done, load.pages[0]!);
  let [known, since] = [progress(), performance.now()];
  for (;;) {
    const now = Atomics.load(words, word);
    if (now >= value) return;
    if (Atomics.load(words, WORD.ended) === 2) throw new GenesisThreadError("has failed");
    if (Atomics.load(words, WORD.stage) === STAGE.stopped && word !== WORD.ended) {
      throw new GenesisThreadError("was stopped");
    }
    if (Atomics.wait(words, word, now, LOOK_MS) !== "timed-out") continue;
    if (progress() !== known) [known, since] = [progress(), performance.now()];
    else if (performance.now() - since > silenceMsMax) throw new GenesisThreadError("does nothing any more");
  }
}

/** Writes the numbers below `order.length` part by part, and where each part begins. */
function divideByNibble(order: Uint32Array, starts: Uint32Array, nibbleOf: (index: number) => number): void {
  for (let i = 0; i < order.length; i++) starts[nibbleOf(i) + 1]!++;
  for (let part = 0; part < PARTS; part++) starts[part + 1]! += starts[part]!;
  invariant(starts[PARTS] === order.length, "each account must be in a part");
  const next = starts.slice(0, PARTS);
  for (let i = 0; i < order.length; i++) order[next[nibbleOf(i)]!++] = i;
}

/** Sorts numbers of accounts by their addresses. */
export function sortByAddress(entries: StateEntries, numbers: Uint32Array): void {
  const addresses = new Uint8Array(numbers.length * ADDRESS_LENGTH);
  for (let i = 0; i < numbers.length; i++) entries.copyAddress(numbers[i]!, addresses, i * ADDRESS_LENGTH);
  const unsorted = numbers.slice();
  const order = byKey(addresses, ADDRESS_LENGTH, 0, numbers.length);
  for (let i = 0; i < numbers.length; i++) numbers[i] = unsorted[order[i]!]!;
}
