import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Hex } from "../../primitives/hex.ts";
import type { Json } from "../verify/json.ts";

/** The members of answers that pages show; nothing is proven of them here. */
export type Block = Json & {
  readonly number: Hex;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly timestamp: Hex;
  readonly miner: Address;
  readonly gasUsed: Hex;
  readonly gasLimit: Hex;
  readonly baseFeePerGas?: Hex;
  readonly stateRoot: Hash;
  readonly transactionsRoot: Hash;
  readonly receiptsRoot: Hash;
  readonly extraData: Hex;
  readonly size: Hex;
  readonly transactions: readonly (Hash | Transaction)[];
};

export type Transaction = Json & {
  readonly hash: Hash;
  readonly blockHash: Hash | null;
  readonly blockNumber: Hex | null;
  readonly transactionIndex: Hex | null;
  readonly from: Address;
  readonly to: Address | null;
  readonly value: Hex;
  readonly nonce: Hex;
  readonly gas: Hex;
  readonly gasPrice: Hex;
  readonly maxFeePerGas?: Hex;
  readonly maxPriorityFeePerGas?: Hex;
  readonly input: Hex;
  readonly type: Hex;
};

export type Log = Json & {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  readonly logIndex: Hex;
  readonly blockNumber: Hex;
  readonly transactionHash: Hash;
};

export type Receipt = Json & {
  readonly transactionHash: Hash;
  readonly blockNumber: Hex;
  readonly status?: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly Log[];
};
