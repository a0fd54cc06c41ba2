import type { ErrorCode } from "../../../base/error-codes.ts";
import { NodeError } from "../../../base/errors.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { revertReason } from "../../../evm/execution/call/call-errors.ts";
import type { Halt } from "../../../evm/machine/halts.ts";
import type { Method } from "../../transport/dispatch/method.ts";
import type { ServingPorts } from "../rpc-ports.ts";

type AnvilCode = Extract<ErrorCode, `ANVIL_${string}`>;

/** An error as anvil words it. The `cause` is ours, with its details. */
export class AnvilError extends NodeError {
  readonly code: AnvilCode;
  constructor(code: AnvilCode, message: string, cause: NodeError) {
    super(message, cause.details, { cause });
    this.code = code;
  }
}

/** Code, and text where it is not ours. */
type Wording = readonly [code: AnvilCode, text?: string];

const FUNDS: Wording = ["ANVIL_REJECTED", "Insufficient funds for gas * price + value"];

/** Texts of anvil 1.7.1 that replace our errors, since tools compare them. */
const WORDINGS: Partial<Record<ErrorCode, Wording>> = {
  ACCOUNT_UNKNOWN: ["ANVIL_INVALID", "No Signer available"],
  DEV_CONTROL: ["ANVIL_INVALID"],
  ESTIMATE_INSUFFICIENT_FUNDS: FUNDS,
  POOL_ALREADY_KNOWN: ["ANVIL_REJECTED", "transaction already imported"],
  POOL_REPLACEMENT_UNDERPRICED: ["ANVIL_REJECTED"],
  RPC_UNKNOWN_BLOCK: ["ANVIL_INVALID"],
  TX_GAS_ALLOWANCE_EXCEEDED: ["ANVIL_FAILED", "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit"],
  TX_INSUFFICIENT_ACCOUNT_FUNDS: FUNDS,
  TX_INSUFFICIENT_MAX_FEE_PER_GAS: ["ANVIL_REJECTED", "max fee per gas less than block base fee"],
  TX_INTRINSIC_GAS_TOO_LOW: ["ANVIL_FAILED", "intrinsic gas too low"],
  TX_NONCE_MISMATCH_TOO_LOW: ["ANVIL_REJECTED", "nonce too low"],
  TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: ["ANVIL_REJECTED", "max priority fee per gas higher than max fee per gas"],
};

/** Where a call cannot begin. */
const CALL_WORDINGS: typeof WORDINGS = {
  ...WORDINGS,
  TX_INTRINSIC_GAS_TOO_LOW: ["ANVIL_FAILED", "intrinsic gas too high -- CallGasCostMoreThanGasLimit"],
};

/** Names of the EVM that anvil runs. */
const HALTS: Partial<Record<Halt["kind"], string>> = {
  outOfGas: "OutOfGas",
  invalidJump: "InvalidJump",
  stackUnderflow: "StackUnderflow",
  stackOverflow: "StackOverflow",
};

/** The method with anvil's errors. */
export function withAnvilErrors<Modules extends ServingPorts>(method: Method<Modules>): Method<Modules> {
  const blockAt = method.params.findIndex(({ schema }) => /^block\b/.test(String(schema.title)));
  return {
    ...method,
    run(modules, params, context) {
      const fail = async (error: unknown): Promise<never> => {
        const number = numberOf(params?.[blockAt]);
        const isBeyond = error instanceof NodeError && error.code === "RPC_UNKNOWN_BLOCK" && number !== undefined;
        throw isBeyond ? outOfRange(number, await modules.chain.head(), error) : anvilError(error, method.name);
      };
      try {
        const result = method.run(modules, params, context);
        return result instanceof Promise ? result.catch(fail) : result;
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** The number of a block that a caller named by it. */
function numberOf(block: unknown): number | undefined {
  const number = (block as { readonly blockNumber?: unknown } | null | undefined)?.blockNumber ?? block;
  return typeof number === "string" && /^0x[0-9a-f]{1,13}$/i.test(number) ? Number(number) : undefined;
}

function outOfRange(number: number, { header }: { readonly header: { readonly number: number } }, cause: NodeError) {
  const text = `BlockOutOfRangeError: block height is ${header.number} but requested was ${number}`;
  return new AnvilError("ANVIL_INVALID", text, cause);
}

/** Codes of bytes that are not a transaction. */
const UNDECODABLE = /^(?:RLP_\w+|INVALID_RLP|TX_TOO_SHORT|TX_TYPE_NOT_SUPPORTED)$/;

/** What anvil would answer to a call of `method`; the same error where that is not known. */
export function anvilError(error: unknown, method: string): unknown {
  if (!(error instanceof NodeError)) return error;
  if (method.startsWith("eth_sendRawTransaction") && UNDECODABLE.test(error.code)) {
    return new AnvilError("ANVIL_INVALID", "Failed to decode transaction", error);
  }
  const { data, halt } = error.details;
  if (error.code === "EXECUTION_REVERTED" && data instanceof Uint8Array) {
    const text = anvilReason(data);
    return new AnvilError("ANVIL_REVERTED", `execution reverted${text === "" ? "" : `: ${text}`}`, error);
  }
  if (error.code === "EXECUTION_HALTED") {
    const name = haltName(halt as Halt);
    return name === undefined ? error : new AnvilError("ANVIL_HALTED", `EVM error ${name}`, error);
  }
  const isCall = error.code === "CALL_REFUSED" && error.cause instanceof NodeError;
  const { code } = isCall ? (error.cause as NodeError) : error;
  const [anvilCode, text = error.message] = (isCall ? CALL_WORDINGS : WORDINGS)[code] ?? [];
  return anvilCode === undefined ? error : new AnvilError(anvilCode, text, error);
}

function haltName(halt: Halt): string | undefined {
  if (halt.kind !== "invalidOpcode") return HALTS[halt.kind];
  return halt.opcode === 0xfe ? "InvalidFEOpcode" : "OpcodeNotFound";
}

const PANIC_SELECTOR = 0x4e487b71n;
const WORD = 32;

/** By their code. */
const PANICS: Readonly<Record<string, string>> = {
  "0": "generic/unspecified error",
  "1": "assertion failed",
  "17": "arithmetic underflow or overflow",
  "18": "division or modulo by zero",
  "33": "failed to convert value into enum type",
  "34": "storage byte array incorrectly encoded",
  "49": "called `.pop()` on an empty array",
  "50": "array out-of-bounds access",
  "65": "memory allocation error",
  "81": "called an invalid internal function",
};

/** Why `data` says a call reverted, as anvil reads it; empty where it says nothing. */
function anvilReason(data: Uint8Array): string {
  if (data.length === 0) return "";
  const selector = data.subarray(0, 4);
  const payload = data.subarray(4);
  if (bytesToBigint(selector) === PANIC_SELECTOR && payload.length === WORD) {
    const code = bytesToBigint(payload);
    const name = PANICS[code.toString()] ?? "unknown code";
    return `panic: ${name} (0x${code.toString(16).padStart(2, "0")})`;
  }
  const whole = revertReason(data) ?? utf8(data);
  if (whole !== undefined) return whole;
  if (data.length < 4) return `custom error bytes ${bytesToHex(data)}`;
  const text = utf8(payload) ?? bytesToHex(payload).slice(2);
  return `custom error ${bytesToHex(selector)}${text === "" ? "" : `: ${text}`}`;
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
