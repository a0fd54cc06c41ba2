/** Names for what a transaction can be rejected for, to compare two engines by. */

/** Our codes; a code that is missing here is a rule of its own. */
const BY_CODE: Readonly<Record<string, string>> = {
  TX_NONCE_MISMATCH_TOO_HIGH: "nonce",
  TX_NONCE_MISMATCH_TOO_LOW: "nonce",
  TX_NONCE_IS_MAX: "nonce",
  TX_GAS_LIMIT_EXCEEDS_MAXIMUM: "gas limit cap",
  TX_SENDER_NOT_EOA: "sender is a contract",
  TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: "priority fee",
  TX_INSUFFICIENT_MAX_FEE_PER_GAS: "base fee",
  TX_TYPE_NOT_SUPPORTED: "type",
  TX_TYPE_3_TX_CONTRACT_CREATION: "type cannot create",
  TX_TYPE_4_TX_CONTRACT_CREATION: "type cannot create",
  RLP_STRING_TOO_SHORT: "type cannot create",
  TX_TYPE_3_TX_ZERO_BLOBS: "no blobs",
  TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED: "blob count",
  TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED: "blob count",
  TX_TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH: "blob hash",
  TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS: "blob fee",
  TX_TYPE_4_EMPTY_AUTHORIZATION_LIST: "no authorizations",
  TX_INITCODE_SIZE_EXCEEDED: "init code size",
  TX_GAS_ALLOWANCE_EXCEEDED: "block gas limit",
  TX_INSUFFICIENT_ACCOUNT_FUNDS: "funds",
  TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW: "funds",
  TX_INTRINSIC_GAS_TOO_LOW: "intrinsic gas",
  TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST: "intrinsic gas",
  TX_INVALID_CHAINID: "chain id",
  TX_INVALID_SIGNATURE_VRS: "signature",
};

/** Beginnings and parts of the library's messages. */
const BY_TEXT: readonly (readonly [part: string, rule: string])[] = [
  ["correct nonce", "nonce"],
  ["nonce cannot equal or exceed", "nonce"],
  ["by EIP-7825", "gas limit cap"],
  ["is not EOA", "sender is a contract"],
  ["maxFeePerGas cannot be less than maxPriorityFeePerGas", "priority fee"],
  ["is less than the block's baseFeePerGas", "base fee"],
  ["not enabled on Common", "type"],
  ["cannot be used to create contracts", "type cannot create"],
  ["at least one blob", "no blobs"],
  ["to exceed maximum blob gas per block", "blob count"],
  ["blobs per tx (EIP-7594)", "blob count"],
  ["KZG commitment version", "blob hash"],
  ["is less than block blobGasPrice", "blob fee"],
  ["authorization list is empty", "no authorizations"],
  ["initcode size", "init code size"],
  ["higher gas limit than the block", "block gas limit"],
  ["doesn't have enough funds", "funds"],
  ["cannot exceed MAX_INTEGER", "funds"],
  ["INTRINSIC_GAS_TOO_LOW", "intrinsic gas"],
  ["Invalid Signature", "signature"],
  ["chain id", "chain id"],
  ["chain ID", "chain id"],
];

export function ruleOfCode(code: string): string {
  return BY_CODE[code] ?? code;
}

export function ruleOfText(text: string): string {
  return BY_TEXT.find(([part]) => text.includes(part))?.[1] ?? text;
}
