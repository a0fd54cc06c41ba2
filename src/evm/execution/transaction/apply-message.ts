import { executionGasMaxOf } from "../../../base/params/execution-limits.ts";
import {
  COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS,
  GAS_PER_BLOB,
  REFUND_QUOTIENT,
  REFUND_QUOTIENT_FRONTIER,
  STATE_GAS,
  WARM_ACCESS_GAS,
} from "../../../base/params/gas.ts";
import { RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult, Message } from "../../machine/evm.ts";
import type { Halt } from "../../machine/halts.ts";
import { precompilesAt } from "../../machine/precompiles/index.ts";
import type { Tracer } from "../../machine/tracer.ts";
import { type Account, credited, EMPTY_ACCOUNT, isEmptyAccount } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import { assertGasLeft, type GasPool } from "../block-context.ts";
import { InvalidTransactionError } from "../errors.ts";
import {
  type AppliedAuthorizations,
  applyAuthorizations,
  applyPaidAuthorizations,
  delegationTarget,
} from "./authorizations.ts";
import type { TransactionMessage } from "./message.ts";
import { intrinsicGas } from "./message.ts";
import { TransactionGas } from "./transaction-gas.ts";
import { type MessageChecks, validateMessage } from "./validate-message.ts";

/** Where a message is executed. */
export type MessageEnvironment = {
  readonly evm: Evm;
  readonly block: BlockContext;
  readonly state: WorldState;
  /** What the block has left; taken from by the message. */
  readonly gasPool: GasPool;
};

export type ApplyMessageOptions = ExecuteOptions & {
  readonly checks?: MessageChecks;
  /** Called before the first irreversible step; if it throws, the state is not changed. */
  beforeFinal?(): void;
};

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

/** Outcome of a call, without logs, which its callers do not need. */
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
    const payer = afterBuyingGas(message, environment, options.checks);
    const { intrinsic, floor } = checkGas(message, block, options.checks);
    checkValue(message, payer);
    const created = raiseNonce(message, payer, state);
    const begin = { intrinsic, created };
    const isAmsterdam = RULES_AT[block.hardfork].amsterdam;
    const execution = isAmsterdam
      ? executePaying(message, begin, environment, options)
      : execute(message, begin, environment, options);
    const { result } = execution;
    const gas = settleGas(message, execution, floor, block);
    returnGas(message, gas.gasUsed, state);
    payCoinbase(message, gas.gasUsed, environment, options);
    options.beforeFinal?.();
    state.finalizeTransaction({
      selfDestructs: result.selfDestructs,
      deleteEmptyTouched: RULES_AT[block.hardfork].spuriousDragon,
      keepsBalances: isAmsterdam,
    });
    gasPool.gas -= isAmsterdam ? gas.executionUsed : gas.gasUsed;
    gasPool.stateGas -= execution.stateUsed;
    gasPool.paidGas += gas.gasUsed;
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
  if (blobVersionedHashes === undefined || !RULES_AT[hardfork].cancun) return 0n;
  return BigInt(blobVersionedHashes.length) * GAS_PER_BLOB;
}

/** The sender's account without the most that the gas can cost, after making sure that cap and value are covered too. */
function afterBuyingGas(
  message: TransactionMessage,
  { block, state, gasPool }: MessageEnvironment,
  checks: MessageChecks = {},
): Account {
  const { from, gasLimit, gasPrice, maxFeePerGas, value, maxFeePerBlobGas = 0n } = message;
  const blobGas = messageBlobGas(message, block);
  assertGasLeft(gasPool, { gas: gasLimit, executionMax: executionMaxOf(block, checks), blobGas });
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

/** Most of the gas limit that execution may use (EIP-8037); undefined: all of it. */
function executionMaxOf(block: BlockContext, { isGasWhole }: MessageChecks = {}): bigint | undefined {
  return isGasWhole ? undefined : executionGasMaxOf(block.hardfork, block);
}

/** Makes sure that the gas limit covers intrinsic gas and floor. */
function checkGas(message: TransactionMessage, block: BlockContext, checks: MessageChecks | undefined) {
  const { gasLimit } = message;
  const { intrinsic, floor } = intrinsicGas(message, message.from, block.hardfork);
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
  const executionMax = executionMaxOf(block, checks);
  if (executionMax !== undefined && (intrinsic > executionMax || floor > executionMax)) {
    throw new InvalidTransactionError(
      "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
      `insufficient gas for floor data gas cost: intrinsic cost ${intrinsic}, floor: ${floor}`,
      { intrinsic, floor, executionMax },
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

/** What is known before a message is executed. */
type Beginning = {
  readonly intrinsic: bigint;
  /** The address of a creation. */
  readonly created: Address | null;
};

/** What the execution of a message came to. */
type Execution = {
  readonly result: ExecutionResult;
  /** Of the gas limit. */
  readonly gasLeft: bigint;
  /** The refund counter. */
  readonly refund: bigint;
  /** Gas for growth of the state (EIP-8037). */
  readonly stateUsed: bigint;
};

function execute(
  message: TransactionMessage,
  { intrinsic, created }: Beginning,
  { evm, block, state }: MessageEnvironment,
  options: ApplyMessageOptions,
): Execution {
  const { authorizationList, gasLimit } = message;
  const { chainId } = block;
  const { deadlineMs } = options;
  const authorizations = authorizationList
    ? applyAuthorizations(authorizationList, { chainId, deadlineMs }, state)
    : NO_AUTHORIZATIONS;
  if (authorizations === undefined) return { result: OUT_OF_TIME, gasLeft: 0n, refund: 0n, stateUsed: 0n };
  const { warmAddresses, warmSlots } = warmSet(message, authorizations.authorities, block);
  const delegate = message.to === null ? undefined : delegateOf(message.to, block, state);
  if (delegate !== undefined) warmAddresses.push(delegate);
  const top = topFrame(message, created, { gas: gasLimit - intrinsic, warmAddresses, warmSlots });
  const tracer = withRefund(options.tracer, authorizations.refund);
  const result = evm.execute(top, block, state, tracer === options.tracer ? options : { ...options, tracer });
  return { result, gasLeft: result.gasLeft, refund: result.gasRefund + authorizations.refund, stateUsed: 0n };
}

/**
 * As `execute` from Amsterdam on: before the first frame the transaction pays for what its authorizations, its recipient and its new contract add to
 * the state (EIP-2780, EIP-8037), and it fails where it cannot. Each account is reported when it is looked at (EIP-7928).
 */
function executePaying(
  message: TransactionMessage,
  { intrinsic, created }: Beginning,
  { evm, block, state }: MessageEnvironment,
  options: ApplyMessageOptions,
): Execution {
  const { from, to, gasLimit, authorizationList = [] } = message;
  const { onAccess, deadlineMs, checks } = options;
  const available = gasLimit - intrinsic;
  const executionMax = executionMaxOf(block, checks) ?? gasLimit;
  const execution = executionMax - intrinsic < available ? executionMax - intrinsic : available;
  const gas = new TransactionGas(execution, available - execution);
  onAccess?.(from, undefined);
  const snapshot = state.snapshot();
  const run = (warm: WarmSet, isUnpaid: boolean): ExecutionResult => {
    const { left, reservoir } = gas;
    return evm.execute(topFrame(message, created, { gas: left, reservoir, isUnpaid, ...warm }), block, state, options);
  };
  const halt = (): Execution => {
    state.revertTo(snapshot);
    const result = run(warmSet(message, [], block), true);
    gas.halt();
    return { result, gasLeft: gas.reservoir, refund: 0n, stateUsed: 0n };
  };

  const { chainId } = block;
  const isPrepaid = (address: Address) => address === from || (address === to && message.value > 0n);
  const authorities = applyPaidAuthorizations(authorizationList, { chainId, deadlineMs }, state, gas, {
    isPrepaid,
    onAccess: onAccess && ((address) => onAccess(address, undefined)),
  });
  if (authorities === "timeout") return { result: OUT_OF_TIME, gasLeft: 0n, refund: 0n, stateUsed: 0n };
  if (authorities === "outOfGas") return halt();
  const recipient = (to ?? created)!;
  onAccess?.(recipient, undefined);
  const paysAccount = (to === null || message.value > 0n) && isEmptyAccount(state.account(recipient) ?? EMPTY_ACCOUNT);
  if (paysAccount && !gas.charge(0n, STATE_GAS.account)) return halt();
  const warm = warmSet(message, authorities, block);
  const delegate = to === null ? undefined : delegateOf(to, block, state);
  if (delegate !== undefined) {
    const isWarm = [from, to, ...warm.warmAddresses].includes(delegate) || precompilesAt(block.hardfork).has(delegate);
    if (!gas.charge(isWarm ? WARM_ACCESS_GAS : COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS, 0n)) return halt();
    onAccess?.(delegate, undefined);
    warm.warmAddresses.push(delegate);
  }
  const result = run(warm, false);
  gas.absorb(result);
  if (result.outcome !== "success" && (to === null ? paysAccount : isUnbornRecipient(message, state))) {
    gas.refill(STATE_GAS.account);
  }
  if (result.outcome === "halt") gas.left = 0n;
  return {
    result,
    gasLeft: gas.left + gas.reservoir,
    refund: result.gasRefund,
    stateUsed: gas.stateUsed,
  };
}

/** The account that a value was meant for is not there after all. */
function isUnbornRecipient({ to, value }: TransactionMessage, state: WorldState): boolean {
  return value > 0n && isEmptyAccount(state.account(to!) ?? EMPTY_ACCOUNT);
}

function topFrame(
  { from, to, value, data, gasPrice, blobVersionedHashes = [] }: TransactionMessage,
  created: Address | null,
  {
    gas,
    reservoir,
    isUnpaid = false,
    warmAddresses,
    warmSlots,
  }: Pick<Message, "gas" | "reservoir" | "isUnpaid" | "warmAddresses" | "warmSlots">,
): Message {
  const call = {
    to,
    caller: from,
    origin: from,
    value,
    data,
    gas,
    reservoir,
    isUnpaid,
    gasPrice,
    blobVersionedHashes,
    warmAddresses,
    warmSlots,
  };
  return created === null ? call : { ...call, createAddress: created };
}

type WarmSet = { readonly warmAddresses: Address[]; readonly warmSlots: [Address, Hash][] };

/** What EIP-2930, 3651 and 7702 make warm besides what the EVM warms itself, and the delegate of the recipient. */
function warmSet(
  { accessList }: TransactionMessage,
  authorities: readonly Address[],
  { hardfork, coinbase }: BlockContext,
): WarmSet {
  const warmAddresses: Address[] = [...authorities];
  const warmSlots: [Address, Hash][] = [];
  if (RULES_AT[hardfork].shanghai) warmAddresses.push(coinbase);
  for (const { address, storageKeys } of accessList) {
    warmAddresses.push(address);
    for (const slot of storageKeys) warmSlots.push([address, slot]);
  }
  return { warmAddresses, warmSlots };
}

/** The account whose code `address` runs (EIP-7702). */
function delegateOf(address: Address, { hardfork }: BlockContext, state: WorldState): Address | undefined {
  const account = RULES_AT[hardfork].prague ? state.account(address) : undefined;
  return account && delegationTarget(state.code(account.codeHash));
}

/** Refund (EIP-3529) and floor (EIP-7623); from Amsterdam on the block counts execution without either (EIP-7778, EIP-8037). */
function settleGas(
  { gasLimit }: TransactionMessage,
  { gasLeft, refund: counter, stateUsed }: Execution,
  floor: bigint,
  { hardfork }: BlockContext,
): { gasUsed: bigint; maxUsedGas: bigint; executionUsed: bigint } {
  const used = gasLimit - gasLeft;
  const quotient = RULES_AT[hardfork].london ? REFUND_QUOTIENT : REFUND_QUOTIENT_FRONTIER;
  const refund = counter > used / quotient ? used / quotient : counter;
  const atLeastFloor = (gas: bigint) => (gas > floor ? gas : floor);
  return {
    gasUsed: atLeastFloor(used - refund),
    maxUsedGas: atLeastFloor(used),
    executionUsed: atLeastFloor(used - stateUsed),
  };
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
  { checks = {}, onAccess }: ApplyMessageOptions,
): void {
  onAccess?.(block.coinbase, undefined);
  if (checks.noBaseFee && maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) return;
  const tip = RULES_AT[block.hardfork].london ? gasPrice - block.baseFeePerGas : gasPrice;
  state.setAccount(block.coinbase, credited(state.account(block.coinbase) ?? EMPTY_ACCOUNT, tip * gasUsed));
}
