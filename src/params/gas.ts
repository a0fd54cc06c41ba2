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
/** EIP-7623 (Prague): floor gas of a calldata token; a zero byte is one token, another byte four */
export const FLOOR_TOKEN_GAS = 10n;
export const TOKENS_PER_NON_ZERO_BYTE = 4n;
/** EIP-7825 (Osaka) */
export const TX_GAS_LIMIT_MAX = 16_777_216n;

/** G_codedeposit: for each byte of deployed code */
export const CODE_DEPOSIT_BYTE_GAS = 200n;
/** G_memory: linear part of the memory cost of a word; the quadratic part is words² / 512 (Yellow Paper, C_mem). */
export const MEMORY_WORD_GAS = 3n;
export const MEMORY_QUADRATIC_SHIFT = 9n;
/** G_copy: for each word of CALLDATACOPY, CODECOPY, EXTCODECOPY, RETURNDATACOPY and MCOPY (EIP-5656) */
export const COPY_WORD_GAS = 3n;
/** G_keccak256word: for each word hashed, by KECCAK256 or CREATE2 (EIP-1014) */
export const KECCAK_WORD_GAS = 6n;
/** G_logdata: for each byte of a log's data */
export const LOG_BYTE_GAS = 8n;
/** G_expbyte: for each byte of the exponent; EIP-160 (Spurious Dragon) */
export const EXP_BYTE_FRONTIER_GAS = 10n;
export const EXP_BYTE_GAS = 50n;

/** G_callvalue */
export const CALL_VALUE_GAS = 9_000n;
/** G_callstipend: given to the callee of a call with value. */
export const CALL_STIPEND = 2_300n;
/** G_newaccount: a call or SELFDESTRUCT that creates an account */
export const NEW_ACCOUNT_GAS = 25_000n;
/** EIP-150: a caller keeps 1/64 of its gas; given as a shift. */
export const CALL_GAS_RESERVE_SHIFT = 6n;

/** EIP-2929 (Berlin) COLD_ACCOUNT_ACCESS_COST, COLD_SLOAD_COST, WARM_STORAGE_READ_COST */
export const COLD_ACCOUNT_ACCESS_GAS = 2_600n;
export const COLD_SLOAD_GAS = 2_100n;
export const WARM_ACCESS_GAS = 100n;

/** G_sset */
export const SSTORE_SET_GAS = 20_000n;
/** G_sreset; from Berlin less COLD_SLOAD_GAS, which the access costs (EIP-2929). */
export const SSTORE_RESET_FRONTIER_GAS = 5_000n;
export const SSTORE_RESET_GAS = SSTORE_RESET_FRONTIER_GAS - COLD_SLOAD_GAS;
/** SSTORE of a slot that was changed before: EIP-1283 (Constantinople), EIP-2200 with EIP-1884 (Istanbul), then WARM_ACCESS_GAS. */
export const SSTORE_DIRTY_CONSTANTINOPLE_GAS = 200n;
export const SSTORE_DIRTY_ISTANBUL_GAS = 800n;
/** EIP-2200 (Istanbul): SSTORE needs more gas than this, so that nothing is written with a stipend. */
export const SSTORE_SENTRY_GAS = CALL_STIPEND;
/** R_sclear; EIP-3529 (London) */
export const SSTORE_CLEAR_REFUND_FRONTIER = 15_000n;
export const SSTORE_CLEAR_REFUND = SSTORE_RESET_GAS + ACCESS_LIST_STORAGE_KEY_GAS;
/** R_selfdestruct, until EIP-3529 (London) */
export const SELFDESTRUCT_REFUND = 24_000n;

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
