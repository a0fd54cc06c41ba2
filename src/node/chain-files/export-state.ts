import { closeSync, openSync, writeSync } from "node:fs";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashToBytes } from "../../base/primitives/hash.ts";
import type { Chain } from "../../chain/chain.ts";
import { dumpState } from "../../chain/inspect/state-dump.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import { dumpedAccountText } from "../../rpc/methods/debug/state.ts";

/** Accounts to read and write at once. */
const PAGE = 1_000;

/**
 * Writes the state after a block as `geth dump` prints it: a line with the state root, and a JSON line for each account in the order of
 * the account trie.
 * @param file must not exist
 * @returns the number of accounts
 */
export async function exportState(
  file: string,
  number: number,
  { chain, store }: { readonly chain: Chain; readonly store: LogBlockStore },
): Promise<number> {
  const source = {
    state: chain.stateAt(number),
    keys: store.hashedKeys,
    storageRootOf: (address: Parameters<typeof chain.proof>[0]) => chain.proof(address, [], number).storageRoot,
  };
  const whole = { accountsMax: PAGE, withCode: true, withStorage: true };
  const withoutLimit = { take() {}, resumed() {} };
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify({ root: chain.header(number)!.stateRoot })}\n`);
    let written = 0;
    for (let start: Uint8Array | undefined = EMPTY_BYTES; start !== undefined; ) {
      const { accounts, next } = await dumpState(source, { ...whole, ...withoutLimit, start });
      for (const account of accounts) {
        writeSync(descriptor, `${dumpedAccountText(account)}\n`);
      }
      written += accounts.length;
      start = next && hashToBytes(next);
    }
    return written;
  } finally {
    closeSync(descriptor);
  }
}
