import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  SYSTEM_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Block, ExecutedBlock } from "../../base/types/block.ts";
import { recoverAuthority } from "../../base/types/transaction/sender.ts";
import type { StateChanges } from "../../evm/state/reader.ts";
import type { RecordItem } from "../block-store.ts";

/** How a transaction has to do with an address; bits of a byte. */
export const ROLE = {
  sender: 1,
  recipient: 2,
  created: 4,
  emitter: 8,
  /** It changed the account in another way: by a message call inside, or as an authority (EIP-7702). */
  touched: 16,
} as const;

/** Instead of an index: some transaction of the block changed the account, and only executing the block tells which. */
export const UNKNOWN_INDEX = 0xffff_ffff;

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

/** What the index takes of a block; `items` and `changed` may decode as they go, and are read once, in this order. */
export type AddressParts = Pick<Block, "header" | "uncles" | "withdrawals"> & {
  readonly transactionCount: number;
  readonly items: Iterable<Pick<RecordItem, "transaction" | "sender" | "receipt">>;
  /** Accounts that the block changed. */
  readonly changed: Iterable<Address>;
};

/** All entries of a block, one for each address and transaction; empty for genesis. */
export function* addressEntries(parts: AddressParts): Generator<AddressEntry> {
  const { header, transactionCount, items, changed, uncles, withdrawals = [] } = parts;
  if (transactionCount === 0) return;
  const seen = new Set<Address>();
  let next = 0;
  for (const item of items) {
    const index = next++;
    for (const [address, roles] of rolesOf(item)) {
      seen.add(address);
      yield { address, index, roles };
    }
  }
  const paid = [header, ...uncles].map(({ coinbase }) => coinbase);
  const byProtocol = new Set([...SYSTEM_ACCOUNTS, ...paid, ...withdrawals.map(({ address }) => address)]);
  // In a block of one transaction it can only be that one.
  const index = transactionCount === 1 ? 0 : UNKNOWN_INDEX;
  for (const address of changed) {
    if (byProtocol.has(address) || seen.has(address)) continue;
    yield { address, index, roles: ROLE.touched };
  }
}

/** The parts of a block that is decoded already. @param changed those of its changes, which may be quicker to read alone */
export function addressPartsOf(
  decoded: IndexedAddresses,
  changed: Iterable<Address> = decoded.changes.accounts.map(({ address }) => address),
): AddressParts {
  const { block, senders, receipts } = decoded;
  const { header, transactions, uncles, withdrawals } = block;
  return {
    header,
    uncles,
    ...(withdrawals && { withdrawals }),
    transactionCount: transactions.length,
    items: transactions.map((transaction, i) => ({
      transaction,
      sender: senders[i]!,
      receipt: receipts[i]!,
    })),
    changed,
  };
}

function rolesOf({
  transaction,
  sender,
  receipt,
}: Pick<RecordItem, "transaction" | "sender" | "receipt">): ReadonlyMap<Address, number> {
  const roles = new Map<Address, number>();
  const add = (address: Address, role: number) => {
    roles.set(address, (roles.get(address) ?? 0) | role);
  };
  const { logs, contractAddress } = receipt;
  add(sender, ROLE.sender);
  if (transaction.to !== null) add(transaction.to, ROLE.recipient);
  if (contractAddress !== null) add(contractAddress, ROLE.created);
  for (const { address } of logs) add(address, ROLE.emitter);
  if (transaction.type === 4) {
    for (const authorization of transaction.authorizationList) {
      const authority = recoverAuthority(authorization);
      if (authority !== undefined) add(authority, ROLE.touched);
    }
  }
  return roles;
}
