import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes } from "../primitives/bytes.ts";
import { encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import type { Withdrawal } from "./block.ts";
import type { StructReader } from "./rlp-struct.ts";

/** RLP of a withdrawal (EIP-4895): the value under its index in the withdrawals trie. */
export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  return encodeRlp(withdrawalItem(withdrawal));
}

export function withdrawalItem({ index, validatorIndex, address, amount }: Withdrawal): RlpItem {
  return [
    bigintToBytes(index),
    bigintToBytes(validatorIndex),
    addressToBytes(address),
    bigintToBytes(amount),
  ];
}

export function readWithdrawal(reader: StructReader): Withdrawal {
  return {
    index: reader.uint("Index", 64),
    validatorIndex: reader.uint("Validator", 64),
    address: reader.address("Address"),
    amount: reader.uint("Amount", 64),
  };
}
