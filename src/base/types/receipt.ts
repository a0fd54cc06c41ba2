import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "./transaction/transaction.ts";

export type Log = {
  readonly address: Address;
  /** 0 to 4 */
  readonly topics: readonly Hash[];
  readonly data: Uint8Array;
};

export type Receipt = {
  readonly type: Transaction["type"];
  /** EIP-658: 1 success, 0 failure; before Byzantium receipts have `postState` instead. */
  readonly status?: 0 | 1;
  readonly postState?: Hash;
  readonly cumulativeGasUsed: bigint;
  readonly gasUsed: bigint;
  /** 256 bytes */
  readonly logsBloom: Uint8Array;
  readonly logs: readonly Log[];
  /** Address of the created contract, even if the creation failed; null for other transactions. */
  readonly contractAddress: Address | null;
  /** wei that the sender paid per unit of gas */
  readonly effectiveGasPrice: bigint;
  /** EIP-4844 transactions only */
  readonly blobGasUsed?: bigint;
  readonly blobGasPrice?: bigint;
};
