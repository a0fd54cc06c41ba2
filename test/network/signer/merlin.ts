import { keccakP } from "@noble/hashes/sha3.js";

/** Bytes of the sponge that data goes into: STROBE-128 over Keccak-f[1600]. */
const RATE = 166;
const [INBOUND, APPLICATION, CIPHER, META, KEY] = [1, 2, 4, 16, 32] as const;

/**
 * A Merlin transcript (merlin.cool): what both ends of a handshake have seen, and challenges that depend on all of it. It is STROBE with the three
 * operations that Merlin needs: AD, meta-AD and PRF.
 */
export class Transcript {
  readonly #state = new Uint8Array(200);
  readonly #words = new Uint32Array(this.#state.buffer);
  #position = 0;
  #begin = 0;

  constructor(label: string) {
    this.#state.set([1, RATE + 2, 1, 0, 1, 96]);
    this.#state.set(Buffer.from("STROBEv1.0.2"), 6);
    keccakP(this.#words);
    this.#operate(META | APPLICATION);
    this.#absorb(Buffer.from("Merlin v1.0"));
    this.append("dom-sep", Buffer.from(label));
  }

  append(label: string, message: Uint8Array): void {
    this.#frame(label, message.length);
    this.#operate(APPLICATION);
    this.#absorb(message);
  }

  /** A challenge of `length` bytes, which no party can choose. */
  challenge(label: string, length: number): Uint8Array {
    this.#frame(label, length);
    this.#operate(INBOUND | APPLICATION | CIPHER);
    return Uint8Array.from({ length }, () => {
      const byte = this.#state[this.#position]!;
      this.#state[this.#position] = 0;
      this.#next();
      return byte;
    });
  }

  #frame(label: string, length: number): void {
    this.#operate(META | APPLICATION);
    this.#absorb(Buffer.from(label));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(length);
    // The label and its length are one operation.
    this.#absorb(size);
  }

  #operate(flags: number): void {
    const before = this.#begin;
    this.#begin = this.#position + 1;
    this.#absorb(Uint8Array.of(before, flags));
    if ((flags & (CIPHER | KEY)) !== 0 && this.#position !== 0) this.#permute();
  }

  #absorb(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#state[this.#position]! ^= byte;
      this.#next();
    }
  }

  #next(): void {
    if (++this.#position === RATE) this.#permute();
  }

  #permute(): void {
    this.#state[this.#position]! ^= this.#begin;
    this.#state[this.#position + 1]! ^= 0x04;
    this.#state[RATE + 1]! ^= 0x80;
    keccakP(this.#words);
    this.#position = 0;
    this.#begin = 0;
  }
}
