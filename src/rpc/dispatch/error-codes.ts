import { errorClassOf, NodeError } from "../../errors.ts";
import { bytesToHex } from "../../primitives/hex.ts";

/** What a plain rejection of a method gets, in geth and therefore here. */
const REJECTED = -32000;

/** "Method not supported" (EIP-1474). */
const NOT_SUPPORTED = -32004;

/** A failure of the node: a bug, or a store that cannot be read. */
const FAILED = -32603;

/** geth and Nethermind's code for "ask again later": some bounded resource is taken. */
const BUSY = -32005;

/**
 * The JSON-RPC code of rejections whose code differs from their family's. The codes are those of JSON-RPC 2.0 and geth; where
 * recorded execution-apis conversations differ they win.
 */
export const RPC_CODES = {
  RPC_PARSE_ERROR: -32700,
  RPC_INVALID_REQUEST: -32600,
  RPC_METHOD_NOT_FOUND: -32601,
  RPC_NOTIFICATIONS_UNSUPPORTED: -32601,
  RPC_INVALID_PARAMS: -32602,
  RPC_INVALID_VALUE: -32602,
  RPC_TIMEOUT: -32002,
  RPC_RESPONSE_TOO_LARGE: -32003,
  RPC_UNAUTHORIZED: -32001,
  RPC_LIMIT_EXCEEDED: -38026,
  RPC_LOG_LIMIT: BUSY,
  RPC_TRACE_RANGE: BUSY,
  ADDRESS_INDEX_BUILDING: BUSY,
  RPC_TOO_MANY: BUSY,
  LES_CAPACITY_EXCEEDED: BUSY,
  SHH_LIMIT: BUSY,
  RPC_UNKNOWN_SUBSCRIPTION: -32601,
  KEY_DERIVATION_BUSY: BUSY,
  KEY_TOO_MANY_TRIES: BUSY,
  EXECUTION_REVERTED: 3,
  BLOCK_PRUNED: 4444,
  RPC_RECEIPT_TIMEOUT: 4,
  RPC_CHAIN_UNREACHABLE: FAILED,
  RPC_COMPILER_BUSY: BUSY,
  POOL_BLOB_QUEUE_FULL: BUSY,
  POOL_PEER_QUEUE_FULL: BUSY,
  CLIQUE_NO_SIGNATURES: NOT_SUPPORTED,
  BROWSER_UNSUPPORTED: NOT_SUPPORTED,
  SIMULATE_NONCE_TOO_LOW: -38010,
  CHAIN_BUSY: BUSY,
  CONSENSUS_NETWORK_DECIDES: REJECTED,
  SIMULATE_NONCE_TOO_HIGH: -38011,
  SIMULATE_BASE_FEE_TOO_LOW: -38012,
  SIMULATE_INTRINSIC_GAS_TOO_LOW: -38013,
  SIMULATE_INSUFFICIENT_FUNDS: -38014,
  SIMULATE_BLOCK_GAS_LIMIT_REACHED: -38015,
  SIMULATE_BLOCK_NUMBER_ORDER: -38020,
  SIMULATE_BLOCK_TIMESTAMP_ORDER: -38021,
  SIMULATE_SENDER_NOT_EOA: -38024,
  SIMULATE_INIT_CODE_TOO_LARGE: -38025,
  SIMULATE_LIMIT_EXCEEDED: -38026,
  SIMULATE_INVALID_FEES: -32602,
  SIMULATE_CALL_FAILED: FAILED,
} as const satisfies Readonly<Record<string, number>>;

/**
 * The JSON-RPC code of every family of rejections, by what their `code` begins with. A test finds a rejection of `src/` that
 * belongs to none.
 */
export const RPC_CODE_FAMILIES = {
  RPC_: REJECTED,
  TX_: REJECTED,
  POOL_: REJECTED,
  CALL_: REJECTED,
  EXECUTION_: REJECTED,
  ESTIMATE_: REJECTED,
  SIMULATE_: REJECTED,
  TRACE_: REJECTED,
  FEE_HISTORY_: REJECTED,
  BLOCK_: REJECTED,
  ACCOUNT_: REJECTED,
  ADDRESS_: REJECTED,
  KEY_: REJECTED,
  WALLET_: REJECTED,
  ADMIN_: REJECTED,
  IMPORT_: REJECTED,
  CLIQUE_: REJECTED,
  DEBUG_: REJECTED,
  DAPP_: REJECTED,
  LES_: REJECTED,
  SHH_: REJECTED,
  DEV_: REJECTED,
  FORK_: REJECTED,
  MINER_: REJECTED,
  RLP_: REJECTED,
  INVALID_: REJECTED,
  STORE_: FAILED,
  TRIE_: FAILED,
  CLOCK_: FAILED,
  CONSENSUS_: FAILED,
  ABCI_: FAILED,
  ENGINE_: REJECTED,
} as const satisfies Readonly<Record<string, number>>;

/** Rejections whose `details.data` is sent along as the error's `data`: bytes as hex, other values as they are. */
const CODES_WITH_DATA: ReadonlySet<string> = new Set([
  "EXECUTION_REVERTED",
  "RPC_LOG_LIMIT",
  "LES_CAPACITY_EXCEEDED",
  "RPC_RECEIPT_TIMEOUT",
]);

/** Damaged data: the caller learns what kind of failure it is. */
const CORRUPTION = /^(?:STORE|TRIE)_/;

/** Rejections that the machine causes and its operator has to end: the caller can do nothing about them. */
const DISK_REJECTIONS: ReadonlySet<string> = new Set(["STORE_DISK_FULL", "POOL_JOURNAL_WRITE"]);

/** The JSON-RPC code of a rejection's `code`; undefined when no table has it. */
export function rpcCodeOf(code: string): number | undefined {
  const exact = (RPC_CODES as Readonly<Record<string, number>>)[code];
  if (exact !== undefined) return exact;
  const family = `${code.split("_", 1)[0]}_`;
  return (RPC_CODE_FAMILIES as Readonly<Record<string, number>>)[family];
}

type ErrorObject = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
};

/** The error object for an error a method threw. Of a bug the caller learns nothing but that it is one. */
export function toErrorObject(error: unknown): ErrorObject {
  if (isSystemError(error)) {
    return { code: FAILED, message: `system error ${error.code}`, data: { kind: "disk" } };
  }
  if (!(error instanceof NodeError)) return { code: FAILED, message: "method handler crashed" };
  const code = rpcCodeOf(error.code) ?? REJECTED;
  const { message } = error;
  const { data } = error.details;
  if (CODES_WITH_DATA.has(error.code) && data !== undefined) {
    return { code, message, data: data instanceof Uint8Array ? bytesToHex(data) : data };
  }
  if (DISK_REJECTIONS.has(error.code)) return { code, message, data: { kind: "disk" } };
  return CORRUPTION.test(error.code)
    ? { code, message, data: { kind: "corruption" } }
    : { code, message };
}

/** An error of a call to the operating system: ENOSPC, EIO, EMFILE … */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error && !(error instanceof NodeError) && errorClassOf(error) === "operator"
  );
}
