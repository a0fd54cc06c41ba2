import type { ChainConfig } from "../../../base/params/chain-config.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { BlockContext, Evm, ExecuteOptions } from "../../machine/evm.ts";
import { precompilesAt } from "../../machine/precompiles/index.ts";
import type { Precompile } from "../../machine/state-port.ts";
import type { Tracer } from "../../machine/tracer.ts";
import type { StateReader } from "../../state/reader.ts";
import { createWorldState, type WorldState } from "../../state/world-state.ts";
import { type BlockHashes, blockContextOf, type ContextHeader, fullGasPool } from "../block-context.ts";
import { InvalidTransactionError } from "../errors.ts";
import { applyMessage, type CallResult } from "../transaction/apply-message.ts";
import type { TransactionMessage } from "../transaction/message.ts";
import { type CallArguments, messageFromCall } from "./call-arguments.ts";
import { assertSuccess, CallRefusedError, ReturnTooLargeError } from "./call-errors.ts";
import {
  applyStateOverrides,
  assertCallOverrides,
  type BlockOverrides,
  overrideBlock,
  type StateOverrides,
} from "./overrides.ts";

/** Gas a call gets at most unless the node is told otherwise (geth's --rpc.gascap). */
export const CALL_GAS_CAP = 50_000_000n;

/** The state and block a call runs on. */
export type CallTarget = {
  readonly state: StateReader;
  readonly header: ContextHeader;
  readonly blockHash: BlockHashes;
  /** What `header` is to the EVM, where the caller knows it already. */
  readonly context?: BlockContext;
  /** BASEFEE and BLOBBASEFEE are the block's, also where the call pays nothing: it is a transaction that is being prepared. */
  readonly keepsFees?: boolean;
};

export type CallModules = { readonly config: ChainConfig; readonly evm: Evm };

export type CallOptions = Pick<ExecuteOptions, "tracer" | "memoryBytesMax"> & {
  readonly stateOverrides?: StateOverrides;
  readonly blockOverrides?: BlockOverrides;
  /** See `overrideBlock`. */
  readonly showsBlock?: boolean;
  /** 0: no limit */
  readonly gasCap?: bigint;
  /** Milliseconds after which the call is aborted. */
  readonly timeoutMs?: number;
  /** The gas is divided as that of a transaction (EIP-8037), since one is being prepared. */
  readonly isTransaction?: boolean;
};

export type SingleCallOptions = CallOptions & {
  /** More bytes than this are not returned, also of a revert. */
  readonly returnBytesMax?: number;
};

/**
 * What overrides of precompiles do, as geth has it for each method: they count; they are checked but the call runs with the
 * fork's own (eth_estimateGas).
 */
type PrecompileOverrides = "apply" | "check";

const TRANSACTION_CHECKS = { skipNonce: true, skipTransactionChecks: true, noBaseFee: true };
const CALL_CHECKS = { ...TRANSACTION_CHECKS, isGasWhole: true };

/** A call ready to be run, any number of times, each from the same state. */
export type PreparedCall = {
  readonly message: TransactionMessage;
  /** With the overrides; the base fee is as the chain has it. */
  readonly block: BlockContext;
  /** The state with the overrides, before the call. */
  readonly state: StateReader;
  /** Precompiles with the overrides. */
  readonly precompiles: ReadonlyMap<Address, Precompile>;
  /** Of `performance.now()`, when the call is aborted; undefined: never */
  readonly deadlineMs: number | undefined;
  /**
   * @param message replaces the prepared message, say with another gas limit
   * @param over `state` keeps the changes of the call; `tracer` replaces the prepared tracer
   * @throws InvalidTransactionError
   */
  run(message?: TransactionMessage, over?: { readonly state?: WorldState; readonly tracer?: Tracer }): CallResult;
};

/**
 * eth_call: return data of the call on `target`; nothing is kept.
 * @throws InvalidCallArgumentsError, InvalidStateOverridesError, InvalidBlockOverridesError, CallRefusedError,
 *   ExecutionRevertedError, ExecutionHaltedError, ExecutionTimeoutError, ReturnTooLargeError
 */
export function call(
  args: CallArguments,
  target: CallTarget,
  modules: CallModules,
  options: SingleCallOptions = {},
): Uint8Array {
  const { returnBytesMax = Number.POSITIVE_INFINITY } = options;
  const prepared = prepareCall(args, target, modules, options);
  const result = runOrRefuse(prepared);
  const { length } = result.returnData;
  if (length > returnBytesMax) throw new ReturnTooLargeError({ length, returnBytesMax });
  assertSuccess(result, options.timeoutMs);
  return result.returnData;
}

/**
 * Overrides applied, arguments completed: what eth_call, eth_estimateGas and the tracing of calls have in common.
 * @throws InvalidCallArgumentsError, InvalidStateOverridesError, InvalidBlockOverridesError
 */
export function prepareCall(
  args: CallArguments,
  target: CallTarget,
  { config, evm }: CallModules,
  options: CallOptions = {},
  precompileOverrides: PrecompileOverrides = "apply",
): PreparedCall {
  const { stateOverrides, blockOverrides, gasCap = CALL_GAS_CAP } = options;
  const real = target.context ?? blockContextOf(target.header, config, target.blockHash);
  const block = blockOverrides ? overriddenBlock(real, blockOverrides, config, options.showsBlock) : real;
  const ownPrecompiles = precompilesAt(block.hardfork);
  let precompiles = ownPrecompiles;
  let { state } = target;
  if (stateOverrides) {
    const base = createWorldState(state);
    const moved = applyStateOverrides(stateOverrides, base, ownPrecompiles);
    if (precompileOverrides === "apply") precompiles = moved;
    state = base.asReader();
  }
  const { chainId } = block;
  const hasBaseFee = (blockOverrides?.baseFeePerGas ?? target.header.baseFeePerGas) !== undefined;
  const baseFeePerGas = hasBaseFee ? block.baseFeePerGas : undefined;
  const prepared = messageFromCall(args, { baseFeePerGas, chainId, gasCap });
  const { memoryBytesMax, timeoutMs } = options;
  const deadlineMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const runOptions = {
    checks: options.isTransaction ? TRANSACTION_CHECKS : CALL_CHECKS,
    precompiles: precompiles === ownPrecompiles ? undefined : precompiles,
    tracer: options.tracer,
    memoryBytesMax,
    deadlineMs,
    // Reading them takes a fifth of a short call, and no caller needs them.
    withoutLogs: true,
  };

  return {
    message: prepared,
    block,
    state,
    precompiles,
    deadlineMs,
    run(message = prepared, { state: kept, tracer = options.tracer } = {}) {
      return applyMessage(
        message,
        {
          evm,
          block: target.keepsFees ? block : withoutPrices(block, message),
          state: kept ?? createWorldState(state),
          // The block's own limit does not bind a call.
          gasPool: fullGasPool(message.gasLimit, 2n ** 64n),
        },
        tracer === runOptions.tracer ? runOptions : { ...runOptions, tracer },
      );
    },
  };
}

function overriddenBlock(
  real: BlockContext,
  overrides: BlockOverrides,
  config: ChainConfig,
  showsBlock?: boolean,
): BlockContext {
  assertCallOverrides(overrides);
  return overrideBlock(real, overrides, config, showsBlock);
}

/** Runs the call; a broken rule for messages becomes the error a caller of eth_call sees. */
export function runOrRefuse(prepared: PreparedCall, over: Parameters<PreparedCall["run"]>[1] = {}): CallResult {
  try {
    return prepared.run(prepared.message, over);
  } catch (error) {
    if (!(error instanceof InvalidTransactionError)) throw error;
    const { gasLimit } = prepared.message;
    const message = `err: ${error.message} (supplied gas ${gasLimit})`;
    throw new CallRefusedError(message, { reason: error.code, gasLimit }, { cause: error });
  }
}

/** Blocks as a call without a price sees them, by the block: the EVM takes in a block that it had last in no time. */
const blocksWithoutBaseFee = new WeakMap<BlockContext, BlockContext>();

/** A call that pays nothing sees a base fee of 0, so that BASEFEE and GASPRICE agree. */
function withoutPrices(block: BlockContext, message: TransactionMessage): BlockContext {
  const free = message.gasPrice === 0n ? withoutBaseFee(block) : block;
  return message.maxFeePerBlobGas === 0n ? { ...free, blobBaseFee: 0n } : free;
}

function withoutBaseFee(block: BlockContext): BlockContext {
  let free = blocksWithoutBaseFee.get(block);
  if (free === undefined) {
    free = { ...block, baseFeePerGas: 0n };
    blocksWithoutBaseFee.set(block, free);
  }
  return free;
}

/** Gas that the calls of one request may use together. */
export type GasBudget = {
  /** As much of `gas` as the budget has. */
  cap(gas: bigint): bigint;
  use(gas: bigint): void;
};

/** @param total units; 0: no limit */
export function createGasBudget(total: bigint): GasBudget {
  if (total === 0n) return { cap: (gas) => gas, use() {} };
  let left = total;
  return {
    cap: (gas) => (gas < left ? gas : left),
    // A call uses no more than it was given, and that came out of what was left.
    use(gas) {
      left -= gas;
    },
  };
}
