import { NodeError } from "../../errors.ts";
import type { InvalidTransactionCode, InvalidTransactionError } from "../errors.ts";

/** Why a whole simulation is refused; each has its own JSON-RPC code. */
type SimulationErrorCode =
  | "SIMULATE_NONCE_TOO_LOW"
  | "SIMULATE_NONCE_TOO_HIGH"
  | "SIMULATE_BASE_FEE_TOO_LOW"
  | "SIMULATE_INTRINSIC_GAS_TOO_LOW"
  | "SIMULATE_INSUFFICIENT_FUNDS"
  | "SIMULATE_BLOCK_GAS_LIMIT_REACHED"
  | "SIMULATE_BLOCK_NUMBER_ORDER"
  | "SIMULATE_BLOCK_TIMESTAMP_ORDER"
  | "SIMULATE_SENDER_NOT_EOA"
  | "SIMULATE_INIT_CODE_TOO_LARGE"
  | "SIMULATE_LIMIT_EXCEEDED"
  | "SIMULATE_INVALID_FEES"
  | "SIMULATE_CALL_FAILED";

/** The simulation as a whole is refused. The message is geth's. */
export class SimulationError extends NodeError {
  readonly code: SimulationErrorCode;
  constructor(
    code: SimulationErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, details, options);
    this.code = code;
  }
}

/** Broken rules for messages that callers can tell apart by code; any other is SIMULATE_CALL_FAILED. */
const CODE_OF_RULE: Readonly<Partial<Record<InvalidTransactionCode, SimulationErrorCode>>> = {
  TX_NONCE_MISMATCH_TOO_LOW: "SIMULATE_NONCE_TOO_LOW",
  TX_NONCE_MISMATCH_TOO_HIGH: "SIMULATE_NONCE_TOO_HIGH",
  TX_INSUFFICIENT_MAX_FEE_PER_GAS: "SIMULATE_BASE_FEE_TOO_LOW",
  TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: "SIMULATE_INVALID_FEES",
  TX_INTRINSIC_GAS_TOO_LOW: "SIMULATE_INTRINSIC_GAS_TOO_LOW",
  TX_INSUFFICIENT_ACCOUNT_FUNDS: "SIMULATE_INSUFFICIENT_FUNDS",
  TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW: "SIMULATE_INSUFFICIENT_FUNDS",
  TX_INSUFFICIENT_FUNDS_FOR_TRANSFER: "SIMULATE_INSUFFICIENT_FUNDS",
  TX_SENDER_NOT_EOA: "SIMULATE_SENDER_NOT_EOA",
  TX_INITCODE_SIZE_EXCEEDED: "SIMULATE_INIT_CODE_TOO_LARGE",
};

/** What a call that may not even begin means for the simulation it is in. */
export function refusedCall(cause: InvalidTransactionError, gasLimit: bigint): SimulationError {
  return new SimulationError(
    CODE_OF_RULE[cause.code] ?? "SIMULATE_CALL_FAILED",
    `err: ${cause.message} (supplied gas ${gasLimit})`,
    { reason: cause.code, gasLimit },
    { cause },
  );
}
