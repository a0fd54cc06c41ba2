import { txGasLimitMaxOf } from "../../../base/params/execution-limits.ts";
import { CALL_STIPEND, TX_BASE_GAS } from "../../../base/params/gas.ts";
import { RULES_AT } from "../../../base/params/hardforks.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import { isOutOfGas } from "../../machine/halts.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import { InvalidTransactionError } from "../errors.ts";
import { type CallResult, messageBlobGas } from "../transaction/apply-message.ts";
import {
  CALL_GAS_CAP,
  type CallModules,
  type CallOptions,
  type CallTarget,
  type PreparedCall,
  prepareCall,
} from "./call.ts";
import type { CallArguments } from "./call-arguments.ts";
import {
  assertSuccess,
  CallRefusedError,
  ExecutionTimeoutError,
  GasAllowanceError,
  InsufficientFundsError,
} from "./call-errors.ts";

/**
 * eth_estimateGas: a gas limit with which the call succeeds, at most 1.5 % above the least one.
 * @throws as `call`, GasAllowanceError, InsufficientFundsError
 */
export function estimateGas(
  args: CallArguments,
  target: CallTarget,
  modules: CallModules,
  options: CallOptions = {},
): bigint {
  // No gas given is as good as too little to be meant: the search then begins at the block's limit.
  const withGas = { ...args, gas: args.gas ?? 0n };
  const prepared = prepareCall(withGas, target, modules, { ...options, isTransaction: true }, "check");
  const { gasCap = CALL_GAS_CAP } = options;
  const allowance = allowanceOf(prepared, gasCap);
  const run: Run = (gasLimit) => runWith(prepared, gasLimit, options.timeoutMs);
  const transfer = isPlainTransfer(prepared) ? resultOfTransfer(run) : undefined;
  if (transfer) return transfer.gasUsed;
  const result = run(allowance);
  if (result === "tooLittleGas" || (result.halt && isOutOfGas(result.halt))) {
    throw new GasAllowanceError(allowance);
  }
  assertSuccess(result);
  return search(run, result, allowance);
}

/** The call with that much gas. */
type Run = (gasLimit: bigint) => CallResult | "tooLittleGas";

/** The most gas worth trying: what the caller, the block with its overrides, the sender's balance and the node's cap allow. */
function allowanceOf({ message, block, state }: PreparedCall, gasCap: bigint): bigint {
  let allowance = message.gasLimit >= TX_BASE_GAS ? message.gasLimit : block.gasLimit;
  const lower = (limit: bigint) => {
    if (allowance > limit) allowance = limit;
  };
  const cap = RULES_AT[block.hardfork].amsterdam ? undefined : txGasLimitMaxOf(block.hardfork, block);
  if (cap !== undefined) lower(cap);
  if (message.maxFeePerGas !== 0n) {
    const { from, value } = message;
    const { balance } = state.account(from) ?? EMPTY_ACCOUNT;
    if (value >= balance) {
      throw new InsufficientFundsError("insufficient funds for transfer", { from, balance, value });
    }
    const available = balance - value;
    const blobGas = messageBlobGas(message, block);
    const blobCost = blobGas * (message.maxFeePerBlobGas ?? 0n);
    if (blobGas > 0n && blobCost >= available) {
      const required = blobCost + value;
      throw new InsufficientFundsError("insufficient funds for gas * price + value", { from, balance, required });
    }
    lower((available - blobCost) / message.maxFeePerGas);
  }
  if (gasCap !== 0n) lower(gasCap);
  return allowance;
}

function isPlainTransfer({ message: { data, to }, state }: PreparedCall): boolean {
  if (data.length > 0 || to === null) return false;
  return (state.account(to) ?? EMPTY_ACCOUNT).codeHash === EMPTY_CODE_HASH;
}

/**
 * The transfer with the gas of one before Amsterdam: what it uses is exact, since no code runs. undefined where it needs more; the run
 * that follows repeats, and reports, every failure.
 */
function resultOfTransfer(run: Run): CallResult | undefined {
  try {
    const result = run(TX_BASE_GAS);
    return result !== "tooLittleGas" && result.outcome === "success" ? result : undefined;
  } catch (error) {
    if (error instanceof CallRefusedError) return undefined;
    throw error;
  }
}

/** Halves the range between a gas limit that fails and one that succeeds until it is narrow. */
function search(run: Run, first: CallResult, allowance: bigint): bigint {
  let low = first.gasUsed - 1n;
  let high = allowance;
  // Enough for one call with value: the stipend, and the 1/64 that the caller keeps (EIP-150).
  const optimistic = ((first.maxUsedGas + CALL_STIPEND) * 64n) / 63n;
  if (optimistic < high) {
    if (succeeds(run, optimistic)) high = optimistic;
    else low = optimistic;
  }
  // (high − low) / high < 0.015, in integers
  while (low + 1n < high && (high - low) * 1000n >= high * 15n) {
    let middle = (low + high) / 2n;
    // Most calls need not much more than they use, so look near the low end first.
    if (middle > low * 2n) middle = low * 2n;
    if (succeeds(run, middle)) high = middle;
    else low = middle;
  }
  return high;
}

function succeeds(run: Run, gasLimit: bigint): boolean {
  const result = run(gasLimit);
  return result !== "tooLittleGas" && result.outcome === "success";
}

/** @throws CallRefusedError for every broken rule that more gas can not mend, ExecutionTimeoutError */
function runWith(prepared: PreparedCall, gasLimit: bigint, timeoutMs = 0): CallResult | "tooLittleGas" {
  let result: CallResult;
  try {
    result = prepared.run({ ...prepared.message, gasLimit });
  } catch (error) {
    if (!(error instanceof InvalidTransactionError)) throw error;
    if (error.code === "TX_INTRINSIC_GAS_TOO_LOW") return "tooLittleGas";
    const message = `failed with ${gasLimit} gas: ${error.message}`;
    throw new CallRefusedError(message, { reason: error.code, gasLimit }, { cause: error });
  }
  // Says nothing about the gas: the search must not take it for too little.
  if (result.halt?.kind === "timeout") throw new ExecutionTimeoutError(timeoutMs);
  return result;
}
