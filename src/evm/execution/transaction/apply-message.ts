import { GAS_PER_BLOB, REFUND_QUOTIENT, REFUND_QUOTIENT_FRONTIER } from "../../../base/params/gas.ts";
import { isAtLeast } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult } from "../../machine/evm.ts";
import type { Halt } from "../../machine/halts.ts";
import type { Tracer } from "../../machine/tracer.ts";
import { type Account, credited, EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import { assertGasLeft, type GasPool } from "../block-context.ts";
import { InvalidTransactionError } from "../errors.ts";
import { type AppliedAuthorizations, applyAuthorizations, delegationTarget } from "./authorizations.ts";
import type { TransactionMessage } from "./message.ts";
import { intrinsicGas } from "./message.ts";
import { type MessageChecks, validateMessage } from "./validate-message.ts";

/** Where a message is executed. */
export type MessageEnvironment = {
  readonly evm: Evm;
  readonly block: BlockContext;
  readonly state: WorldState;
  /** What the block has left; taken from by the message. */
  readonly gasPool: GasPool;
};

export type ApplyMessageOptions = ExecuteOptions & { readonly checks?: MessageChecks };

/** Outcome of a transaction. Its changes are in the state, also when `outcome` is not "success". */
export type MessageResult = Pick<ExecutionResult, "outcome" | "returnData" | "logs"> & {
  /** Present when `outcome` is "halt". */
  readonly halt: Halt | undefined;
  /** Units paid for: after the refund, and at least the floor (EIP-7623). */
  readonly gasUsed: bigint;
  /** Units in use at the end, before the refund: what the gas limit had to cover. */
  readonly maxUsedGas: bigint;
  /** Where a creation put its contract, or would have; null for a call. */
  readonly contractAddress: Address | null;
};

/** Outcome of a call, which nobody asks for its logs. */
export type CallResult = Omit<MessageResult, "logs">;

const NO_AUTHORIZATIONS: AppliedAuthorizations = { authorities: [], refund: 0n };

/** The deadline passed before any code ran. */
const OUT_OF_TIME: ExecutionResult = {
  outcome: "halt",
  halt: { kind: "timeout" },
  returnData: EMPTY_BYTES,
  gasLeft: 0n,
  gasRefund: 0n,
  logs: [],
  selfDestructs: [],
};

/**
 * The state transition of one transaction (Yellow Paper 6): checks, purchase of gas, execution, refund, payment of the
 * coinbase, deletion of accounts. When it throws, the state is as before.
 * @throws InvalidTransactionError
 */
export function applyMessage(
  message: TransactionMessage,
  environment: MessageEnvironment,
  options: ApplyMessageOptions = {},
): MessageResult {
  const { block, state, gasPool } = environment;
  const snapshot = state.snapshot();
  try {
    validateMessage(message, block, state, options.checks);
    const payer = afterBuyingGas(message, environment);
    const { intrinsic, floor } = checkGas(message, block);
    checkValue(message, payer);
    const created = raiseNonce(message, payer, state);
    const { chainId } = block;
    const { deadlineMs } = options;
    const authorizations = message.authorizationList
      ? applyAuthorizations(message.authorizationList, { chainId, deadlineMs }, state)
      : NO_AUTHORIZATIONS;
    const gasLeft = message.gasLimit - intrinsic;
    const result =
      authorizations === undefined
        ? OUT_OF_TIME
        : execute(message, { gas: gasLeft, created, authorizations }, environment, options);
    const gas = settleGas(message, result, authorizations?.refund ?? 0n, floor, block);
    returnGas(message, gas.gasUsed, state);
    payCoinbase(message, gas.gasUsed, environment, options.checks);
    state.finalizeTransaction({
      selfDestructs: result.selfDestructs,
      deleteEmptyTouched: isAtLeast(block.hardfork, "spuriousDragon"),
    });
    gasPool.gas -= gas.gasUsed;
    gasPool.blobGas -= messageBlobGas(message, block);
    const { gasUsed, maxUsedGas } = gas;
    const { outcome, halt, returnData, logs } = result;
    return { outcome, halt, returnData, logs, gasUsed, maxUsedGas, contractAddress: created };
  } catch (error) {
    state.revertTo(snapshot);
    throw error;
  }
}

/** Blob gas of a message: 0 unless it has blobs (EIP-4844). A call may name some before Cancun, where they have no price. */
export function messageBlobGas(
  { blobVersionedHashes }: Pick<TransactionMessage, "blobVersionedHashes">,
  { hardfork }: Pick<BlockContext, "hardfork">,
): bigint {
  if (blobVersionedHashes === undefined || !isAtLeast(hardfork, "cancun")) return 0n;
  return BigInt(blobVersionedHashes.length) * GAS_PER_BLOB;
}

/** The sender's account without the most that the gas can cost, after making sure that cap and value are covered too. */
function afterBuyingGas(message: TransactionMessage, { block, state, gasPool }: MessageEnvironment): Account {
  const { from, gasLimit, gasPrice, maxFeePerGas, value, maxFeePerBlobGas = 0n } = message;
  const blobGas = messageBlobGas(message, block);
  assertGasLeft(gasPool, gasLimit, blobGas);
  const required = gasLimit * maxFeePerGas + value + blobGas * maxFeePerBlobGas;
  const account = state.account(from) ?? EMPTY_ACCOUNT;
  if (account.balance < required) refuseForFunds(from, account.balance, required);
  const { nonce, codeHash } = account;
  const balance = account.balance - gasLimit * gasPrice - blobGas * block.blobBaseFee;
  return { nonce, balance, codeHash };
}

function refuseForFunds(from: Address, balance: bigint, required: bigint): never {
  const prefix = `insufficient funds for gas * price + value: address ${checksumAddress(from)}`;
  if (required >= 2n ** 256n) {
    throw new InvalidTransactionError(
      "TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW",
      `${prefix} required balance exceeds 256 bits`,
    );
  }
  throw new InvalidTransactionError("TX_INSUFFICIENT_ACCOUNT_FUNDS", `${prefix} have ${balance} want ${required}`, {
    balance,
    required,
  });
}

/** Makes sure that the gas limit covers intrinsic gas and floor. */
function checkGas(message: TransactionMessage, { hardfork }: BlockContext) {
  const { gasLimit } = message;
  const { intrinsic, floor } = intrinsicGas(message, hardfork);
  if (gasLimit < intrinsic) {
    throw new InvalidTransactionError(
      "TX_INTRINSIC_GAS_TOO_LOW",
      `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`,
      { gasLimit, intrinsic },
    );
  }
  if (gasLimit < floor) {
    throw new InvalidTransactionError(
      "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
      `insufficient gas for floor data gas cost: have ${gasLimit}, want ${floor}`,
      { gasLimit, floor },
    );
  }
  return { intrinsic, floor };
}

function checkValue({ from, value }: TransactionMessage, { balance }: Account): void {
  if (value > balance) {
    throw new InvalidTransactionError(
      "TX_INSUFFICIENT_FUNDS_FOR_TRANSFER",
      `insufficient funds for transfer: address ${checksumAddress(from)}`,
      { balance, value },
    );
  }
}

/** Raises the nonce of the sender, whose account is now `account`; returns the address a creation leads to. */
function raiseNonce(
  { from, to }: TransactionMessage,
  { nonce, balance, codeHash }: Account,
  state: WorldState,
): Address | null {
  // Wraps only where a simulation overrides the nonce with the greatest one and does not check it.
  state.setAccount(from, { nonce: BigInt.asUintN(64, nonce + 1n), balance, codeHash });
  return to === null ? createAddress(from, nonce) : null;
}

/** The refund counter begins with what authorizations gave back, which the EVM does not know of. */
function withRefund(tracer: Tracer | undefined, refund: bigint): Tracer | undefined {
  const onStep = tracer?.onStep;
  if (!onStep || refund === 0n) return tracer;
  return {
    ...tracer,
    onStep: (step) => onStep(Object.assign(step, { refund: step.refund + refund })),
  };
}

type TopFrame = {
  readonly gas: bigint;
  readonly created: Address | null;
  readonly authorizations: AppliedAuthorizations;
};

function execute(
  message: TransactionMessage,
  { gas, created, authorizations }: TopFrame,
  { evm, block, state }: MessageEnvironment,
  options: ApplyMessageOptions,
): ExecutionResult {
  const { from, to, value, data, gasPrice, blobVersionedHashes = [] } = message;
  const { warmAddresses, warmSlots } = warmSet(message, authorizations.authorities, block, state);
  const call = {
    to,
    caller: from,
    origin: from,
    value,
    data,
    gas,
    gasPrice,
    blobVersionedHashes,
    warmAddresses,
    warmSlots,
  };
  const top = created === null ? call : { ...call, createAddress: created };
  const tracer = withRefund(options.tracer, authorizations.refund);
  return evm.execute(top, block, state, tracer === options.tracer ? options : { ...options, tracer });
}

/** What EIP-2930, 3651 and 7702 make warm besides what the EVM warms itself. */
function warmSet(
  { to, accessList }: TransactionMessage,
  authorities: readonly Address[],
  { hardfork, coinbase }: BlockContext,
  state: WorldState,
) {
  const warmAddresses: Address[] = [...authorities];
  const warmSlots: [Address, Hash][] = [];
  if (isAtLeast(hardfork, "shanghai")) warmAddresses.push(coinbase);
  for (const { address, storageKeys } of accessList) {
    warmAddresses.push(address);
    for (const slot of storageKeys) warmSlots.push([address, slot]);
  }
  const callee = to === null ? undefined : state.account(to);
  if (callee && isAtLeast(hardfork, "prague")) {
    const target = delegationTarget(state.code(callee.codeHash));
    if (target !== undefined) warmAddresses.push(target);
  }
  return { warmAddresses, warmSlots };
}

/** Refund (EIP-3529) and floor (EIP-7623). */
function settleGas(
  { gasLimit }: TransactionMessage,
  { gasLeft, gasRefund }: ExecutionResult,
  authorizationRefund: bigint,
  floor: bigint,
  { hardfork }: BlockContext,
): { gasUsed: bigint; maxUsedGas: bigint } {
  const used = gasLimit - gasLeft;
  const quotient = isAtLeast(hardfork, "london") ? REFUND_QUOTIENT : REFUND_QUOTIENT_FRONTIER;
  let refund = gasRefund + authorizationRefund;
  if (refund > used / quotient) refund = used / quotient;
  const atLeastFloor = (gas: bigint) => (gas > floor ? gas : floor);
  return { gasUsed: atLeastFloor(used - refund), maxUsedGas: atLeastFloor(used) };
}

function returnGas({ from, gasLimit, gasPrice }: TransactionMessage, gasUsed: bigint, state: WorldState): void {
  if (gasUsed === gasLimit || gasPrice === 0n) return;
  const returned = (gasLimit - gasUsed) * gasPrice;
  state.setAccount(from, credited(state.account(from) ?? EMPTY_ACCOUNT, returned));
}

/** The tip; credited even when it is 0, which touches the account. The base fee is burned (EIP-1559). */
function payCoinbase(
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: TransactionMessage,
  gasUsed: bigint,
  { block, state }: MessageEnvironment,
  checks: MessageChecks = {},
): void {
  if (checks.noBaseFee && maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) return;
  const tip = isAtLeast(block.hardfork, "london") ? gasPrice - block.baseFeePerGas : gasPrice;
  state.setAccount(block.coinbase, credited(state.account(block.coinbase) ?? EMPTY_ACCOUNT, tip * gasUsed));
}
