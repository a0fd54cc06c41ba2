import { NodeError } from "../errors.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "./account.ts";
import type { AccountChange, StateChanges } from "./reader.ts";

/** Changes that are no state: something in them is none, is there twice, or is missing. */
export class InvalidStateError extends NodeError {
  readonly code = "STORE_INVALID_STATE";
}

const WORD_END = 2n ** 256n;
const NONCE_END = 2n ** 64n;
/** Of a slot in hex, with its prefix. */
const SLOT_DIGITS = 66;

/**
 * Asserts what a state root does not say of changes that lead to a state from nothing. The trie ignores an account that is removed with all of its
 * slots, a slot of 0, and the codes; a store would have rows of them, and later blocks would read those.
 *
 * An empty account (EIP-161) is not refused: genesis and blocks before Spurious Dragon can have them, and they are in the state root.
 * @throws InvalidStateError
 */
export function assertWholeState({ accounts, codes }: StateChanges): void {
  const addresses = new Set<Address>();
  const used = new Set<Hash>();
  for (const change of accounts) {
    const { address } = change;
    if (addresses.has(address))
      throw new InvalidStateError("an account is there twice", { address });
    addresses.add(address);
    const codeHash = assertAccount(change);
    if (codeHash !== EMPTY_CODE_HASH) used.add(codeHash);
  }
  for (const codeHash of used) {
    if (!codes.has(codeHash)) throw new InvalidStateError("a code is missing", { codeHash });
  }
  for (const [codeHash, code] of codes) {
    if (!used.has(codeHash)) throw new InvalidStateError("no account has this code", { codeHash });
    if (keccak256Hash(code) !== codeHash) {
      throw new InvalidStateError("a code has another hash", { codeHash });
    }
  }
}

function assertAccount({ address, account, storage, storageCleared }: AccountChange): Hash {
  if (account === null || storageCleared) {
    throw new InvalidStateError("an account is removed or cleared", { address });
  }
  const { nonce, balance, codeHash } = account;
  if (!(nonce >= 0n && nonce < NONCE_END && balance >= 0n && balance < WORD_END)) {
    throw new InvalidStateError("nonce or balance is out of range", { address });
  }
  for (const [slot, value] of storage) {
    if (slot.length !== SLOT_DIGITS || value <= 0n || value >= WORD_END) {
      throw new InvalidStateError("slot or value is out of range", { address, slot });
    }
  }
  return codeHash;
}
