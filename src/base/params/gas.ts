import type { Address } from "../primitives/address.ts";
import type { Hardfork } from "./hardforks.ts";

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
/** EIP-7702 (Prague): charged per authorization, as if its account were new */
export const AUTHORIZATION_GAS = 25_000n;
/** EIP-7702 PER_AUTH_BASE_COST: cost of an authorization for an existing account; the rest is refunded */
export const AUTHORIZATION_BASE_GAS = 12_500n;
/** EIP-7623 (Prague): floor gas of a calldata token; a zero byte is one token, another byte four */
export const FLOOR_TOKEN_GAS = 10n;
export const TOKENS_PER_NON_ZERO_BYTE = 4n;
/** EIP-7825 (Osaka); from Amsterdam on the maximum execution gas of a transaction (EIP-8037) */
export const TX_GAS_LIMIT_MAX = 16_777_216n;

/** EIP-8037 (Amsterdam): both dimensions of a transaction's gas together */
export const TX_TOTAL_GAS_LIMIT_MAX = 2n ** 32n - 1n;
/** EIP-7954 (Amsterdam): bytes of a contract; init code may have twice as many */
export const CODE_SIZE_MAX_AMSTERDAM = 65_536;

/** Intrinsic gas by resource: EIP-2780, with the prices of EIP-7976, 7981, 8037 and 8038 (Amsterdam). */
export const AMSTERDAM_INTRINSIC = {
  /** The sender's account and the inclusion of the transaction */
  base: 12_000n,
  /** The recipient, unless it is the sender */
  recipient: 3_000n,
  /** Log and balance of the recipient of a value, unless it is the sender */
  value: 6_000n,
  creation: 12_000n,
  authorization: 7_816n,
  /** With 64 gas for each of its 20 bytes (EIP-7981) */
  accessListAddress: 2_900n + 20n * 64n,
  /** With 64 gas for each of its 32 bytes (EIP-7981) */
  accessListStorageKey: 2_000n + 32n * 64n,
  /** EIP-7976: floor gas of a byte of calldata, and of the access list's addresses and keys */
  floorByte: 64n,
} as const;

/** EIP-8037 (Amsterdam) CPSB: state gas per byte of state growth */
const STATE_BYTE_GAS = 1_530n;
/** EIP-8037: state gas of a new account, of a new slot, of the delegation of an account, and of a byte of code */
export const STATE_GAS = {
  account: 120n * STATE_BYTE_GAS,
  slot: 64n * STATE_BYTE_GAS,
  delegation: 23n * STATE_BYTE_GAS,
  codeByte: STATE_BYTE_GAS,
} as const;

/** EIP-8038 (Amsterdam): execution gas of access to accounts and slots */
export const COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS = 3_000n;
export const ACCOUNT_WRITE_GAS = 9_000n;
export const STORAGE_WRITE_GAS = 10_000n;
export const SSTORE_CLEAR_REFUND_AMSTERDAM = 11_616n;

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
/** EIP-8038 (Amsterdam) */
export const CALL_VALUE_AMSTERDAM_GAS = ACCOUNT_WRITE_GAS + CALL_STIPEND;
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
/** EIP-2200 (Istanbul): SSTORE requires more gas than this, so that a call stipend cannot write. */
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

/** Gas of each call that the protocol itself makes (EIP-4788, 2935, 7002, 7251, 8282); outside the block's gas. */
export const SYSTEM_CALL_GAS = 30_000_000n;
/** EIP-8037 (Amsterdam): its additional state gas, for 16 new slots */
export const SYSTEM_CALL_STATE_GAS = 16n * STATE_GAS.slot;
/** EIP-7928 (Amsterdam): gas of the block's limit for each account and slot of its access list */
export const BLOCK_ACCESS_LIST_ITEM_GAS = 2_000n;
/** Minimum gas limit of a valid Amsterdam block: the access list of an empty one has 25 items. */
export const AMSTERDAM_BLOCK_GAS_LIMIT_MIN = 25n * BLOCK_ACCESS_LIST_ITEM_GAS;
/**
 * Minimum gas limit that operators may set, and validators agree on, for Amsterdam. The access list of an empty block has 25 items, full request
 * queues add up to 250, and a vote its slots: a block without room for one of them stops the chain.
 */
export const AMSTERDAM_GAS_LIMIT_MIN = 500n * BLOCK_ACCESS_LIST_ITEM_GAS;
/** EIP-7934 (Osaka): bytes of a block's RLP */
export const BLOCK_RLP_SIZE_MAX = 8_388_608;
/** Minimum gas limit of a block (Yellow Paper 4.4.4), and the divisor of the parent's that bounds its change. */
export const BLOCK_GAS_LIMIT_MIN = 5_000n;
export const BLOCK_GAS_LIMIT_BOUND_DIVISOR = 1_024n;

/** Caller of the protocol's own calls. */
export const SYSTEM_ADDRESS = "0xfffffffffffffffffffffffffffffffffffffffe" as Address;
/** EIP-4788 (Cancun) */
export const BEACON_ROOTS_ADDRESS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02" as Address;
/** EIP-2935 (Prague) */
export const HISTORY_STORAGE_ADDRESS = "0x0000f90827f1c53a10cb7a02335b175320002935" as Address;
/** EIP-2935: blocks whose hashes the contract stores. EIP-4788 has ring buffers of the same length. */
export const HISTORY_SERVE_WINDOW = 8_191;
/** EIP-7002 (Prague) */
export const WITHDRAWAL_REQUEST_ADDRESS = "0x00000961ef480eb55e80d19ad83579a64c007002" as Address;
/** EIP-7251 (Prague) */
export const CONSOLIDATION_REQUEST_ADDRESS = "0x0000bbddc7ce488642fb579f8b00f3a590007251" as Address;

/** EIP-8282 (Amsterdam) */
export const BUILDER_DEPOSIT_REQUEST_ADDRESS = "0x0000bff46984e3725691fa540a8c7589300d8282" as Address;
export const BUILDER_EXIT_REQUEST_ADDRESS = "0x000064d678505ad48f8ccb093bc65613800e8282" as Address;

/** A contract that each block from `since` on calls, and without which it is invalid. */
export type RequestContract = {
  readonly eip: string;
  readonly address: Address;
  readonly since: Hardfork;
  /** EIP-7685 */
  readonly requestType: number;
  /** Name of its queue in error messages. */
  readonly queue: string;
  /** Its name in `eth_config` (EIP-7910). */
  readonly name: string;
};

/** In the order in which a block calls them. */
export const REQUEST_CONTRACTS: readonly RequestContract[] = [
  {
    eip: "EIP-7002",
    address: WITHDRAWAL_REQUEST_ADDRESS,
    since: "prague",
    requestType: 0x01,
    queue: "withdrawal",
    name: "WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS",
  },
  {
    eip: "EIP-7251",
    address: CONSOLIDATION_REQUEST_ADDRESS,
    since: "prague",
    requestType: 0x02,
    queue: "consolidation",
    name: "CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS",
  },
  {
    eip: "EIP-8282",
    address: BUILDER_DEPOSIT_REQUEST_ADDRESS,
    since: "amsterdam",
    requestType: 0x03,
    queue: "builder deposit",
    name: "BUILDER_DEPOSIT_CONTRACT_ADDRESS",
  },
  {
    eip: "EIP-8282",
    address: BUILDER_EXIT_REQUEST_ADDRESS,
    since: "amsterdam",
    requestType: 0x04,
    queue: "builder exit",
    name: "BUILDER_EXIT_CONTRACT_ADDRESS",
  },
];

// Gas of the precompiled contracts (Yellow Paper, appendix E.1), as amended by the EIPs named.

/** Gas with a fixed part and a part per started 32-byte word of the input. */
export type WordGas = { readonly base: number; readonly perWord: number };
/** Gas with a fixed part and a part per pair of points. */
export type PairGas = { readonly base: number; readonly perPair: number };

export const ECRECOVER_GAS = 3_000n;
export const SHA256_GAS: WordGas = { base: 60, perWord: 12 };
export const RIPEMD160_GAS: WordGas = { base: 600, perWord: 120 };
export const IDENTITY_GAS: WordGas = { base: 15, perWord: 3 };

/** EIP-198 (Byzantium) */
export const MODEXP_DIVISOR_BYZANTIUM = 20n;
/** EIP-2565 (Berlin) */
export const MODEXP_DIVISOR_BERLIN = 3n;
export const MODEXP_GAS_MIN_BERLIN = 200n;
/** EIP-7883 (Osaka) */
export const MODEXP_GAS_MIN = 500n;
/** EIP-7883: cost of an iteration on operands of up to 32 bytes */
export const MODEXP_SHORT_COMPLEXITY = 16n;
/** EIP-198, EIP-7883: iterations per byte of the exponent after its first 32 */
export const MODEXP_BYTE_ITERATIONS_BYZANTIUM = 8n;
export const MODEXP_BYTE_ITERATIONS = 16n;
/** EIP-7823 (Osaka): bytes of each operand */
export const MODEXP_LENGTH_MAX = 1_024n;

/** EIP-196, EIP-197 (Byzantium) */
export const BN254_ADD_BYZANTIUM_GAS = 500n;
export const BN254_MUL_BYZANTIUM_GAS = 40_000n;
export const BN254_PAIRING_BYZANTIUM_GAS: PairGas = { base: 100_000, perPair: 80_000 };
/** EIP-1108 (Istanbul) */
export const BN254_ADD_GAS = 150n;
export const BN254_MUL_GAS = 6_000n;
export const BN254_PAIRING_GAS: PairGas = { base: 45_000, perPair: 34_000 };

/** EIP-4844 (Cancun) */
export const KZG_POINT_EVALUATION_GAS = 50_000n;

/** EIP-2537 (Prague) */
export const BLS_G1_ADD_GAS = 375n;
export const BLS_G1_MUL_GAS = 12_000;
export const BLS_G2_ADD_GAS = 600n;
export const BLS_G2_MUL_GAS = 22_500;
export const BLS_PAIRING_GAS: PairGas = { base: 37_700, perPair: 32_600 };
export const BLS_MAP_FP_TO_G1_GAS = 5_500n;
export const BLS_MAP_FP2_TO_G2_GAS = 23_800n;
/** EIP-7951 (Osaka) */
export const P256_VERIFY_GAS = 6_900n;

export const BLS_MSM_DISCOUNT_DIVISOR = 1_000;
/**
 * Cost of each of k terms in thousandths of one multiplication's gas, for k from 1 to 128; the last value holds beyond. EIP-2537, "MSM
 * discounts".
 */
// biome-ignore format: a table
export const BLS_G1_MSM_DISCOUNTS: readonly number[] = [
  1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677,
  673, 669, 665, 661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627,
  625, 623, 621, 619, 617, 615, 613, 611, 609, 608, 606, 604, 603, 601, 599, 598,
  596, 595, 593, 592, 591, 589, 588, 586, 585, 584, 582, 581, 580, 579, 577, 576,
  575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563, 562, 561, 560, 559,
  558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545, 544,
  543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531,
  530, 529, 528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519,
];
// biome-ignore format: a table
export const BLS_G2_MSM_DISCOUNTS: readonly number[] = [
  1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717,
  711, 704, 699, 693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646,
  643, 640, 637, 634, 632, 629, 627, 624, 622, 620, 618, 615, 613, 611, 609, 607,
  606, 604, 602, 600, 598, 597, 595, 593, 592, 590, 589, 587, 586, 584, 583, 582,
  580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567, 566, 565, 563, 562,
  561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548, 547,
  546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535,
  534, 533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524,
];
