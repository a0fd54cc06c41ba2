import type { Address } from "../../base/primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import type { AccountWriter } from "../../evm/machine/state-port.ts";
import { EMPTY_ACCOUNT } from "../../evm/state/account.ts";
import type { StateReader } from "../../evm/state/reader.ts";

/**
 * Bytes in the storage of an account without code, which the state root covers like everything else: their length in slot 0, and from slot 1 on the
 * bytes, the last word padded with zeros. The account has nonce 1, so that EIP-161 never deletes it, and no key is known for its address.
 */

const WORD_BYTES = 32;

/** The bytes in the storage of `address`; undefined before the first write. */
export function readAccountBytes(state: Pick<StateReader, "storage">, address: Address): Uint8Array | undefined {
  const length = Number(state.storage(address, slot(0)));
  if (length === 0) return undefined;
  const words = Array.from({ length: wordsOf(length) }, (_, i) =>
    bigintToFixedBytes(state.storage(address, slot(i + 1)), WORD_BYTES),
  );
  return concatBytes(...words).subarray(0, length);
}

/** Replaces them, outside of any transaction. @param bytes at least one */
export function writeAccountBytes(state: AccountWriter, address: Address, bytes: Uint8Array): void {
  const oldLength = Number(state.storage(address, slot(0)));
  if (oldLength === 0) {
    const account = state.account(address) ?? EMPTY_ACCOUNT;
    state.setAccount(address, { ...account, nonce: 1n });
  }
  state.setStorage(address, slot(0), BigInt(bytes.length));
  const words = Math.max(wordsOf(bytes.length), wordsOf(oldLength));
  for (let i = 0; i < words; i++) {
    const word = new Uint8Array(WORD_BYTES);
    word.set(bytes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES));
    state.setStorage(address, slot(i + 1), bytesToBigint(word));
  }
}

function slot(index: number): Hash {
  return hashFromBigint(BigInt(index));
}

function wordsOf(length: number): number {
  return Math.ceil(length / WORD_BYTES);
}
