import { type Address, addressToBytes } from "../../../../src/base/primitives/address.ts";
import { hashFromBigint } from "../../../../src/base/primitives/hash.ts";
import { keccak256Hash } from "../../../../src/base/primitives/keccak.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../../../src/chain/records/block-record.ts";
import { encodeChanges, readChanges } from "../../../../src/chain/records/changes-record.ts";
import { describeSnapshot, hashOfChunk } from "../../../../src/consensus/state-sync/snapshot-format.ts";
import type { StateChanges } from "../../../../src/evm/state/reader.ts";
import { ByteReader } from "../../../../src/store/storage/byte-io.ts";
import { packChunks, unpackChunks } from "../../../support/consensus/state-sync/chunks.ts";
import type { SnapshotOffer } from "../messages.ts";

/** An offer with its chunks, whose hashes match it. */
export type ForgedSnapshot = { readonly offer: SnapshotOffer; readonly chunks: readonly Uint8Array[] };

/** An account that does not exist: a forged snapshot can hold a slot of it, which enters no root. */
export const GHOST = `0x${"90".repeat(20)}` as Address;
export const GHOST_SLOT = hashFromBigint(0n);

/** The state has its accounts in the order of these. */
const hashOf = ({ address }: { readonly address: Address }) => keccak256Hash(addressToBytes(address));

/** Ways in which a state differs from that of its header, and is in the form of a snapshot nevertheless. */
const FORGERIES = {
  "forged-balance": (chunks) =>
    withState(chunks, ({ accounts: [first, ...rest], codes }) => {
      const account = { ...first!.account!, balance: first!.account!.balance + 1n };
      return { accounts: [{ ...first!, account }, ...rest], codes };
    }),
  "forged-ghost": (chunks) =>
    withState(chunks, ({ accounts, codes }) => {
      const ghost = { address: GHOST, account: null, storage: new Map([[GHOST_SLOT, 5n]]), storageCleared: false };
      return { accounts: [...accounts, ghost].sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)), codes };
    }),
  "forged-without-code": (chunks) => withState(chunks, ({ accounts }) => ({ accounts, codes: new Map() })),
  "forged-consensus-data": ([first, ...rest]) => {
    const record = { ...decodeBlockRecord(first!), consensusData: Uint8Array.of(0xc0) };
    return [encodeBlockRecord(record, new Set()), ...rest];
  },
} as const satisfies Readonly<Record<string, (chunks: readonly Uint8Array[]) => readonly Uint8Array[]>>;

export type Forgery = keyof typeof FORGERIES;
export const FORGERY_KINDS = Object.keys(FORGERIES) as readonly Forgery[];

/**
 * What a dishonest peer makes of a snapshot of its own application.
 * @param packed its chunks, as the application has them
 */
export function forgeSnapshot(kind: Forgery, height: number, packed: readonly Uint8Array[]): ForgedSnapshot {
  const { contents, proofs } = unpackChunks(packed);
  const chunks = packChunks(FORGERIES[kind](contents), proofs);
  return { offer: describeSnapshot(height, chunks.map(hashOfChunk)), chunks };
}

/** Changes the first part of the state. */
function withState(chunks: readonly Uint8Array[], change: (state: StateChanges) => StateChanges): Uint8Array[] {
  const [block, part, ...rest] = chunks;
  return [block!, encodeChanges(change(readChanges(new ByteReader(part!)))), ...rest];
}
