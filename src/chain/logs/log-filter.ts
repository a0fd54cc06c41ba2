import { type Address, addressToBytes } from "../../primitives/address.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import type { Log } from "../../types/receipt.ts";
import type { LogCursor } from "./log-table.ts";

export type LogFilterOptions = {
  /** Empty: any address. */
  readonly addresses?: readonly Address[];
  /** By position; an empty one matches any topic, but a topic has to be there. */
  readonly topics?: readonly (readonly Hash[])[];
};

/**
 * Which logs a caller wants: the address is one of `addresses`, and for each position given the log
 * has a topic there that is one of those named (execution-apis, `Filter`).
 */
export class LogFilter {
  /** undefined: any */
  readonly addresses: ReadonlySet<Address> | undefined;
  readonly topics: readonly (ReadonlySet<Hash> | undefined)[];
  readonly #addressBytes: ByteStrings | undefined;
  readonly #topicBytes: readonly (ByteStrings | undefined)[];

  constructor({ addresses = [], topics = [] }: LogFilterOptions = {}) {
    this.addresses = addresses.length === 0 ? undefined : new Set(addresses);
    this.topics = topics.map((terms) => (terms.length === 0 ? undefined : new Set(terms)));
    this.#addressBytes =
      this.addresses && new ByteStrings(Array.from(this.addresses, addressToBytes));
    this.#topicBytes = this.topics.map(
      (terms) => terms && new ByteStrings(Array.from(terms, hashToBytes)),
    );
  }

  matches({ address, topics }: Log): boolean {
    if (this.addresses !== undefined && !this.addresses.has(address)) return false;
    return (
      topics.length >= this.topics.length &&
      this.topics.every((terms, position) => terms === undefined || terms.has(topics[position]!))
    );
  }

  /** Whether the current log of `logs` matches. */
  matchesAt(logs: LogCursor): boolean {
    const { bytes, topicsOffset } = logs;
    if (this.#addressBytes !== undefined && !this.#addressBytes.has(bytes, logs.addressOffset)) {
      return false;
    }
    const topics = this.#topicBytes;
    if (logs.topicCount < topics.length) return false;
    for (let position = 0; position < topics.length; position++) {
      const terms = topics[position];
      if (terms !== undefined && !terms.has(bytes, topicsOffset + position * 32)) return false;
    }
    return true;
  }
}

/** Byte strings of one length, to be found inside larger ones without cutting those up. */
class ByteStrings {
  /** By their last four bytes: numbers and addresses in topics begin with zeros. */
  readonly #byTail = new Map<number, Uint8Array[]>();
  readonly #length: number;
  readonly #only: Uint8Array | undefined;

  constructor(strings: readonly Uint8Array[]) {
    this.#only = strings.length === 1 ? strings[0] : undefined;
    this.#length = strings[0]!.length;
    for (const string of strings) {
      const tail = tailAt(string, this.#length);
      const known = this.#byTail.get(tail);
      if (known === undefined) this.#byTail.set(tail, [string]);
      else known.push(string);
    }
  }

  has(bytes: Uint8Array, offset: number): boolean {
    // Most filters name one, and a look-up in a map takes longer than the comparison.
    if (this.#only !== undefined) return isAt(bytes, offset, this.#only);
    const candidates = this.#byTail.get(tailAt(bytes, offset + this.#length));
    return candidates?.some((string) => isAt(bytes, offset, string)) ?? false;
  }
}

function tailAt(bytes: Uint8Array, end: number): number {
  return (
    bytes[end - 1]! | (bytes[end - 2]! << 8) | (bytes[end - 3]! << 16) | (bytes[end - 4]! << 24)
  );
}

/** From the end, where most differ. */
function isAt(bytes: Uint8Array, offset: number, string: Uint8Array): boolean {
  for (let i = string.length - 1; i >= 0; i--) if (bytes[offset + i] !== string[i]) return false;
  return true;
}
