import { addressFromPrivateKey } from "../../../src/base/crypto/secp256k1.ts";
import { keccak256 } from "../../../src/base/primitives/keccak.ts";

/** Accounts of the users of a simulation, which own something in block 0. */
export const USERS = Array.from({ length: 12 }, (_, index) => {
  const key = keccak256(Buffer.from(`user ${index} of a simulation`));
  return { index, key, address: addressFromPrivateKey(key) };
});

/** Those of transactions that are executed ahead. */
export const HEAVY_USERS = USERS.slice(6, 9);

/** Wei of each user in block 0. */
export const USER_BALANCE = 10n ** 22n;

export const CHAIN_ID = 9_000n;
