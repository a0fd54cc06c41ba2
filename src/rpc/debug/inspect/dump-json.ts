import type { DumpedAccount, StateDump } from "../../../chain/inspect/state-dump.ts";
import { checksumAddress } from "../../../primitives/address.ts";
import { type Hash, hashToBytes } from "../../../primitives/hash.ts";
import { bytesToHex } from "../../../primitives/hex.ts";

/** The most accounts of one answer, in geth as well. */
export const DUMP_ACCOUNTS_MAX = 256;

/** geth's JSON of a dump: keys sorted, hashes of the top without prefix, `next` in base64. */
export function dumpJson({ root, accounts, next }: StateDump & { readonly root: Hash }): unknown {
  const entries = accounts.map(
    (account) => [checksumAddress(account.address), dumpedAccountJson(account)] as const,
  );
  return {
    root: root.slice(2),
    accounts: sortedObject(entries),
    ...(next !== undefined && { next: Buffer.from(hashToBytes(next)).toString("base64") }),
  };
}

/** geth's JSON of one account, of `geth dump` too. */
export function dumpedAccountJson(account: DumpedAccount): object {
  const { address, hash, balance, nonce, storageRoot, codeHash, code, storage } = account;
  return {
    balance: balance.toString(),
    nonce: Number(nonce),
    root: storageRoot,
    codeHash,
    ...(code.length > 0 && { code: bytesToHex(code) }),
    ...(storage.length > 0 && { storage: storageJson(storage) }),
    address,
    key: hash,
  };
}

/** Values without prefix and leading zero bytes. */
function storageJson(storage: readonly (readonly [slot: Hash, value: bigint])[]): object {
  return sortedObject(
    storage.map(([slot, value]) => {
      const digits = value.toString(16);
      return [slot, digits.length % 2 === 0 ? digits : `0${digits}`] as const;
    }),
  );
}

function sortedObject<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
