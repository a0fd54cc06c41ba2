import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  SYSTEM_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../params/gas.ts";
import type { Address } from "../../primitives/address.ts";
import type { StateChanges } from "../../state/reader.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import { recoverAuthority } from "../../types/transaction/sender.ts";

/** How a transaction has to do with an address; bits of a byte. */
export const ROLE = {
  sender: 1,
  recipient: 2,
  created: 4,
  emitter: 8,
  /** It changed the account in another way: by a message call inside, or as an authority (EIP-7702). */
  touched: 16,
} as const;

/** In place of an index: one of the block's transactions changed the account, and only its execution shows which. */
export const UNKNOWN_INDEX = 0xffff_ffff;

/** One transaction that has to do with one address. */
export type AddressEntry = {
  readonly address: Address;
  /** in the block */
  readonly index: number;
  /** `ROLE` */
  readonly roles: number;
};

export type IndexedAddresses = ExecutedBlock & { readonly changes: StateChanges };

/** Accounts that the protocol itself changes in every block. */
const SYSTEM_ACCOUNTS: readonly Address[] = [
  SYSTEM_ADDRESS,
  BEACON_ROOTS_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
];

/** Every entry of a block, one for each address and transaction. Genesis has none. */
export function addressEntries({
  block: { header, transactions, uncles, withdrawals = [] },
  senders,
  receipts,
  changes,
}: IndexedAddresses): AddressEntry[] {
  const entries: AddressEntry[] = [];
  if (transactions.length === 0) return entries;
  const seen = new Set<Address>();
  for (const [index, tx] of transactions.entries()) {
    const roles = new Map<Address, number>();
    const add = (address: Address, role: number) => {
      roles.set(address, (roles.get(address) ?? 0) | role);
    };
    const { logs, contractAddress } = receipts[index]!;
    add(senders[index]!, ROLE.sender);
    if (tx.to !== null) add(tx.to, ROLE.recipient);
    if (contractAddress !== null) add(contractAddress, ROLE.created);
    for (const { address } of logs) add(address, ROLE.emitter);
    if (tx.type === 4) {
      for (const authorization of tx.authorizationList) {
        const authority = recoverAuthority(authorization);
        if (authority !== undefined) add(authority, ROLE.touched);
      }
    }
    for (const [address, own] of roles) {
      seen.add(address);
      entries.push({ address, index, roles: own });
    }
  }
  const paid = [header, ...uncles].map(({ coinbase }) => coinbase);
  const byProtocol = new Set([
    ...SYSTEM_ACCOUNTS,
    ...paid,
    ...withdrawals.map(({ address }) => address),
  ]);
  // A block of one transaction needs no execution to know which one it was.
  const index = transactions.length === 1 ? 0 : UNKNOWN_INDEX;
  for (const { address } of changes.accounts) {
    if (byProtocol.has(address) || seen.has(address)) continue;
    entries.push({ address, index, roles: ROLE.touched });
  }
  return entries;
}
