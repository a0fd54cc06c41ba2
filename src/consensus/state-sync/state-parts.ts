import { setImmediate } from "node:timers/promises";
import { writeChanges } from "../../chain/records/changes-record.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { type Account, EMPTY_CODE_HASH } from "../../state/account.ts";
import type { AccountChange, StateReader } from "../../state/reader.ts";
import { ByteWriter } from "../../storage/byte-io.ts";

/** Work between two turns of the event loop, which blocks and callers wait for. */
const SLICE_MS = 5;
/** An account, and a slot, with what is written around them; an upper bound of what fills a part. */
const ACCOUNT_BYTES = 128;
const SLOT_BYTES = 70;

type Part = {
  readonly accounts: AccountChange[];
  readonly codes: Map<Hash, Uint8Array>;
  bytes: number;
};

/**
 * All of `state` as the changes that lead to it from nothing, in parts of about `partBytes`. Accounts are in the order of their addresses, slots in
 * that of their keys, and a code is in the part of the first account that has it: the same state is the same bytes on every node, and a reader
 * sees what is there twice. An account whose storage does not fit into one part is in several, one after the other. The storage of one
 * account is read in one go.
 * @param addresses of every account the state may have, ascending
 */
export async function* statePartsOf(
  state: StateReader,
  addresses: readonly Address[],
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  const writtenCodes = new Set<Hash>();
  let part = emptyPart();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const address of addresses) {
    const account = state.account(address);
    if (account === undefined) continue;
    addCode(part, account, state, writtenCodes);
    for (const storage of storagePartsOf(state, address, partBytes)) {
      part.accounts.push({ address, account, storage, storageCleared: false });
      part.bytes += ACCOUNT_BYTES + storage.size * SLOT_BYTES;
      if (part.bytes >= partBytes) {
        yield encode(part);
        part = emptyPart();
      }
    }
    if (performance.now() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = performance.now() + SLICE_MS;
  }
  if (part.accounts.length > 0) yield encode(part);
}

function emptyPart(): Part {
  return { accounts: [], codes: new Map(), bytes: 0 };
}

function addCode(part: Part, { codeHash }: Account, state: StateReader, written: Set<Hash>): void {
  if (codeHash === EMPTY_CODE_HASH || written.has(codeHash)) return;
  written.add(codeHash);
  const code = state.code(codeHash);
  part.codes.set(codeHash, code);
  part.bytes += code.length;
}

/** The storage of an account in maps of at most `partBytes`; one empty map for an account without storage. */
function storagePartsOf(
  state: StateReader,
  address: Address,
  partBytes: number,
): readonly ReadonlyMap<Hash, bigint>[] {
  const slotsMax = Math.max(1, Math.floor(partBytes / SLOT_BYTES));
  const parts = [new Map<Hash, bigint>()];
  const entries = [...state.storageEntries(address)];
  // Where they come from rows they are in order but for the newest.
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [slot, value] of entries) {
    const last = parts.at(-1)!;
    if (last.size < slotsMax) last.set(slot, value);
    else parts.push(new Map([[slot, value]]));
  }
  return parts;
}

function encode({ accounts, codes, bytes }: Part): Uint8Array {
  const writer = new ByteWriter(bytes);
  writeChanges(writer, { accounts, codes }, new Set());
  return writer.finish();
}
