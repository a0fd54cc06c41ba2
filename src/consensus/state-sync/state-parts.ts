import type { Address } from "../../base/primitives/address.ts";
import { addressToBytes } from "../../base/primitives/address.ts";
import { type Hash, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { encodeChanges } from "../../chain/records/changes-record.ts";
import type { StatePiece } from "../../chain/store/retention/state-pieces.ts";
import type { AccountChange } from "../../evm/state/reader.ts";
import type { BoundaryProofs } from "./boundary-proofs.ts";

/** Upper bounds of the bytes of an account and of a slot in a part. */
const ACCOUNT_BYTES = 128;
const SLOT_BYTES = 70;

/** Joins the pieces of a state into parts of about `partBytes`. */
export class StateParts {
  readonly #proofs: Pick<BoundaryProofs, "end">;
  readonly #codeOf: (codeHash: Hash) => Uint8Array;
  readonly #partBytes: number;
  readonly #writtenCodes = new Set<Hash>();
  #accounts: AccountChange[] = [];
  #codes = new Map<Hash, Uint8Array>();
  #bytes = 0;
  #address: Address | undefined;
  #lastSlot: Hash | undefined;

  /** @param proofs receives the end of each part */
  constructor(proofs: Pick<BoundaryProofs, "end">, codeOf: (codeHash: Hash) => Uint8Array, partBytes: number) {
    this.#proofs = proofs;
    this.#codeOf = codeOf;
    this.#partBytes = partBytes;
  }

  /** Adds a piece. @returns the part that ends with it, if one does */
  add({ address, account, storage }: StatePiece): Uint8Array | undefined {
    const { codeHash } = account;
    if (codeHash !== EMPTY_CODE_HASH && !this.#writtenCodes.has(codeHash)) {
      const code = this.#codeOf(codeHash);
      this.#writtenCodes.add(codeHash);
      this.#codes.set(codeHash, code);
      this.#bytes += code.length;
    }
    if (address !== this.#address) this.#lastSlot = undefined;
    this.#address = address;
    for (const slot of storage.keys()) this.#lastSlot = slot;
    this.#accounts.push({ address, account, storage, storageCleared: false });
    this.#bytes += ACCOUNT_BYTES + storage.size * SLOT_BYTES;
    if (this.#bytes < this.#partBytes) return undefined;
    const slot = this.#lastSlot && keccak256(hashToBytes(this.#lastSlot));
    this.#proofs.end(keccak256(addressToBytes(address)), slot);
    return this.#encode();
  }

  /** The last part, which needs no proof; undefined if nothing follows the previous one. */
  finish(): Uint8Array | undefined {
    return this.#accounts.length === 0 ? undefined : this.#encode();
  }

  #encode(): Uint8Array {
    const part = encodeChanges({ accounts: this.#accounts, codes: this.#codes });
    this.#accounts = [];
    this.#codes = new Map();
    this.#bytes = 0;
    return part;
  }
}
