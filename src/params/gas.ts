import type { Address } from "../primitives/address.ts";

// Yellow Paper, appendix G, as amended by the EIPs named. Gas amounts are bigint: a gas limit may hold up to 2^64 − 1.

/** G_transaction */
export const TX_BASE_GAS = 21_000n;
/** G_txcreate, EIP-2 (Homestead) */
export const TX_CREATE_GAS = 32_000n;
/** G_txdatazero */
export const TX_DATA_ZERO_GAS = 4n;
/** G_txdatanonzero before Istanbul */
export const TX_DATA_NON_ZERO_FRONTIER_GAS = 68n;
/** EIP-2028 (Istanbul) */
export const TX_DATA_NON_ZERO_GAS = 16n;
/** EIP-2930 (Berlin) */
export const ACCESS_LIST_ADDRESS_GAS = 2_400n;
export const ACCESS_LIST_STORAGE_KEY_GAS = 1_900n;
/** EIP-3860 (Shanghai): for each 32-byte word of init code */
export const INIT_CODE_WORD_GAS = 2n;
/** EIP-3860 (Shanghai): bytes */
export const INIT_CODE_SIZE_MAX = 49_152;
/** EIP-170 (Spurious Dragon): bytes */
export const CODE_SIZE_MAX = 24_576;
/** EIP-7702 (Prague): charged for each authorization, as if its account were new */
export const AUTHORIZATION_GAS = 25_000n;
/** EIP-7702 PER_AUTH_BASE_COST: what an authorization of an existing account costs; the rest is refunded */
export const AUTHORIZATION_BASE_GAS = 12_500n;
/** EIP-7623 (Prague): floor price of a calldata token; a zero byte is one token, another byte four */
export const FLOOR_TOKEN_GAS = 10n;
export const TOKENS_PER_NON_ZERO_BYTE = 4n;
/** EIP-7825 (Osaka) */
export const TX_GAS_LIMIT_MAX = 16_777_216n;

/** At most 1/2 of the gas used is refunded before London. */
export const REFUND_QUOTIENT_FRONTIER = 2n;
/** EIP-3529 (London): 1/5 */
export const REFUND_QUOTIENT = 5n;

/** EIP-4844 (Cancun): blob gas of one blob */
export const GAS_PER_BLOB = 131_072n;
/** EIP-7594 (Osaka): blobs one transaction may carry */
export const BLOBS_PER_TX_MAX = 6;
/** EIP-4844: first byte of a versioned hash made from a KZG commitment */
export const BLOB_HASH_VERSION_KZG = 0x01;

/** Gas given to each call the protocol itself makes (EIP-4788, 2935, 7002, 7251); outside the block's gas. */
export const SYSTEM_CALL_GAS = 30_000_000n;
/** EIP-7934 (Osaka): bytes of a block's RLP */
export const BLOCK_RLP_SIZE_MAX = 8_388_608;
/** Least gas limit of a block (Yellow Paper 4.4.4) and how much of the parent's it may move by. */
export const BLOCK_GAS_LIMIT_MIN = 5_000n;
export const BLOCK_GAS_LIMIT_BOUND_DIVISOR = 1_024n;

/** Caller of the protocol's own calls. */
export const SYSTEM_ADDRESS = "0xfffffffffffffffffffffffffffffffffffffffe" as Address;
/** EIP-4788 (Cancun) */
export const BEACON_ROOTS_ADDRESS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02" as Address;
/** EIP-2935 (Prague) */
export const HISTORY_STORAGE_ADDRESS = "0x0000f90827f1c53a10cb7a02335b175320002935" as Address;
/** EIP-7002 (Prague) */
export const WITHDRAWAL_REQUEST_ADDRESS = "0x00000961ef480eb55e80d19ad83579a64c007002" as Address;
/** EIP-7251 (Prague) */
export const CONSOLIDATION_REQUEST_ADDRESS =
  "0x0000bbddc7ce488642fb579f8b00f3a590007251" as Address;
