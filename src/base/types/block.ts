import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Header } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import type { Transaction } from "./transaction/transaction.ts";

/** EIP-4895; `amount` in gwei. */
export type Withdrawal = {
  readonly index: bigint;
  readonly validatorIndex: bigint;
  readonly address: Address;
  readonly amount: bigint;
};

export type Block = {
  /** keccak256 of the header's RLP */
  readonly hash: Hash;
  readonly header: Header;
  readonly transactions: readonly Transaction[];
  readonly uncles: readonly Header[];
  /** Present from Shanghai. */
  readonly withdrawals?: readonly Withdrawal[];
};

/** A block with the results of its execution: one receipt and one sender per transaction, in order. */
export type ExecutedBlock = {
  readonly block: Block;
  readonly senders: readonly Address[];
  readonly receipts: readonly Receipt[];
};
