import type { ErrorCode } from "../../../base/error-codes.ts";
import { NodeError } from "../../../base/errors.ts";
import type { Header } from "../../../base/types/header.ts";
import type { CallArguments } from "../call/call-arguments.ts";
import { type BlockOverrides, InvalidBlockOverridesError, type StateOverrides } from "../call/overrides.ts";
import type { InvalidTransactionCode, InvalidTransactionError } from "../errors.ts";

/** Why a whole simulation is refused; each has its own JSON-RPC code. */
type SimulationErrorCode = Extract<ErrorCode, `SIMULATE_${string}`>;

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

/** One block a caller wants simulated. */
export type BlockRequest = {
  readonly blockOverrides?: BlockOverrides;
  readonly stateOverrides?: StateOverrides;
  readonly calls: readonly CallArguments[];
};

/** A block to simulate whose place in the chain is settled. */
export type PlannedBlock = BlockRequest & { readonly number: number; readonly timestamp: number };

/** geth's bounds for one request: entries and the distance to the base, calls a block, calls in all. */
const BLOCKS_MAX = 256;
const BLOCK_CALLS_MAX = 5_000;
const CALLS_MAX = 10_000;

/** Seconds from one block to the next where a request does not say. */
const BLOCK_SECONDS = 12;

/**
 * Refuses more than one request may hold, before anything is looked up.
 * @throws SimulationError
 */
export function assertWithinLimits(requests: readonly { readonly calls?: readonly unknown[] }[]): void {
  if (requests.length > BLOCKS_MAX) limit("too many blocks");
  let total = 0;
  for (const { calls = [] } of requests) {
    if (calls.length > BLOCK_CALLS_MAX) {
      limit(`too many calls in block: ${calls.length} > ${BLOCK_CALLS_MAX}`);
    }
    total += calls.length;
    if (total > CALLS_MAX) limit(`too many calls: ${total} > ${CALLS_MAX}`);
  }
}

/**
 * Every block from the base to the last requested one, in order: empty blocks fill gaps.
 * @throws SimulationError for numbers or times that do not rise, or lead too far away
 */
export function planBlocks(
  requests: readonly BlockRequest[],
  base: Pick<Header, "number" | "timestamp">,
): readonly PlannedBlock[] {
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const request of requests) {
    const { blockOverrides = {} } = request;
    const asked = blockOverrides.number ?? BigInt(number + 1);
    if (asked - BigInt(base.number) > BigInt(BLOCKS_MAX)) limit("too many blocks");
    const wanted = Number(asked);
    if (wanted <= number) {
      throw new SimulationError(
        "SIMULATE_BLOCK_NUMBER_ORDER",
        `block numbers must be in order: ${wanted} <= ${number}`,
      );
    }
    for (number++; number < wanted; number++) {
      timestamp += BLOCK_SECONDS;
      planned.push({ number, timestamp, calls: [] });
    }
    const time = blockOverrides.time === undefined ? timestamp + BLOCK_SECONDS : headerTime(blockOverrides.time);
    if (time <= timestamp) {
      throw new SimulationError(
        "SIMULATE_BLOCK_TIMESTAMP_ORDER",
        `block timestamps must be in order: ${time} <= ${timestamp}`,
      );
    }
    timestamp = time;
    planned.push({ ...request, number, timestamp });
  }
  return planned;
}

/** A header's time, which is a safe integer here. */
function headerTime(time: bigint): number {
  if (time <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(time);
  throw new InvalidBlockOverridesError(`block override "time" is too large: ${time}`, { time });
}

function limit(message: string): never {
  throw new SimulationError("SIMULATE_LIMIT_EXCEEDED", message);
}
