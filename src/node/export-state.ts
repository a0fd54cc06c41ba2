import { closeSync, openSync, writeSync } from "node:fs";
import { dumpWholeState } from "../chain/inspect/state-dump.ts";
import { dumpedAccountJson } from "../rpc/debug/inspect/dump-json.ts";
import type { OpenChain } from "./open-chain.ts";

/** Characters that are written at once. */
const CHUNK = 1 << 20;

/**
 * Writes the state after a block as `geth dump` prints it: a line with the state root, and a JSON line for each account in the order of
 * the account trie.
 * @param file must not exist
 * @returns the number of accounts
 */
export function exportState(
  file: string,
  number: number,
  { chain, store }: Pick<OpenChain, "chain" | "store">,
): number {
  const source = {
    state: chain.stateAt(number),
    addresses: store.addresses(),
    storageRootOf: (address: Parameters<typeof chain.proofAt>[1]) =>
      chain.proofAt(number, address, []).storageRoot,
  };
  const descriptor = openSync(file, "wx", 0o600);
  try {
    let accounts = 0;
    let text = `${JSON.stringify({ root: chain.headerAt(number)!.stateRoot })}\n`;
    for (const account of dumpWholeState(source)) {
      accounts++;
      text += `${JSON.stringify(dumpedAccountJson(account))}\n`;
      if (text.length < CHUNK) continue;
      writeSync(descriptor, text);
      text = "";
    }
    writeSync(descriptor, text);
    return accounts;
  } finally {
    closeSync(descriptor);
  }
}
