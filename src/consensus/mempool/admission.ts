import type { ErrorCode } from "../../base/error-codes.ts";
import { NodeError } from "../../base/errors.ts";
import { executionGasMaxOf, initCodeSizeMaxOf, txGasLimitMaxOf } from "../../base/params/execution-limits.ts";
import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { maxFeePerGasOf, maxPriorityFeeOf } from "../../base/types/transaction/fees.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import {
  isTransactionTypeSupported,
  type Transaction,
  transactionTypeSince,
} from "../../base/types/transaction/transaction.ts";
import { intrinsicGas } from "../../evm/execution/transaction/message.ts";
import { missingPermission } from "../../evm/execution/validation/account-permissions.ts";
import type { AccountRules, PoolRules, Submission } from "./pool.ts";

const UINT64_MAX = 2n ** 64n - 1n;

/** Forks that added transaction types, by geth's names. */
const FORK_NAMES: Partial<Record<Hardfork, string>> = {
  berlin: "Berlin",
  london: "London",
  cancun: "Cancun",
  prague: "Prague",
};

/** Inputs of the stateless checks besides the head. */
type AdmissionLimits = {
  /** wei */
  readonly minimumTip: bigint;
  readonly sizeMax: number;
  /** Bytes of `tx` with its sidecar. */
  readonly size: number;
  readonly permissions: AccountRules | undefined;
};

/**
 * Rejects a gas limit above that of every block, for any sender.
 * @throws TransactionRejectedError
 */
export function checkGasLimit(tx: Transaction, rules: PoolRules): void {
  const cap = txGasLimitMaxOf(rules.hardfork, rules);
  if (cap !== undefined && tx.gasLimit > cap) {
    throw reject("TX_GAS_LIMIT_EXCEEDS_MAXIMUM", `transaction gas limit too high (cap: ${cap}, tx: ${tx.gasLimit})`);
  }
  if (tx.gasLimit > rules.header.gasLimit) {
    throw reject("TX_GAS_ALLOWANCE_EXCEEDED", "exceeds block gas limit");
  }
}

/** @throws TransactionRejectedError */
export function checkSize(size: number, sizeMax: number): void {
  if (size > sizeMax) {
    throw reject("POOL_OVERSIZED_DATA", `oversized data: transaction size ${size}, limit ${sizeMax}`);
  }
}

/**
 * Stateless checks (geth: `ValidateTransaction`), in geth's order; the first failure determines the answer.
 * @returns the sender
 * @throws TransactionRejectedError
 */
export function checkTransaction({ tx, sender }: Submission, rules: PoolRules, limits: AdmissionLimits): Address {
  const { hardfork } = rules;
  checkSize(limits.size, limits.sizeMax);
  checkFork(tx, hardfork);
  const initCodeSizeMax = initCodeSizeMaxOf(hardfork, rules);
  if (tx.to === null && RULES_AT[hardfork].shanghai && tx.data.length > initCodeSizeMax) {
    throw reject(
      "TX_INITCODE_SIZE_EXCEEDED",
      `max initcode size exceeded: code size ${tx.data.length} limit ${initCodeSizeMax}`,
    );
  }
  checkGasLimit(tx, rules);
  const tip = maxPriorityFeeOf(tx);
  if (tip > maxFeePerGasOf(tx)) {
    throw reject("TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS", "max priority fee per gas higher than max fee per gas");
  }
  const from = checkSender(tx, sender, rules);
  checkPermissions(tx, from, limits.permissions);
  const missing = missingPermission(tx, from, rules.state, rules);
  if (missing !== undefined) throw reject(missing.code, missing.text);
  if (tx.nonce === UINT64_MAX) throw reject("TX_NONCE_IS_MAX", "nonce has max value");
  checkGas(tx, from, rules);
  if (tip < limits.minimumTip) {
    throw reject(
      "POOL_GAS_PRICE_BELOW_MINIMUM",
      `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${limits.minimumTip}`,
    );
  }
  if (tx.type === 4 && tx.authorizationList.length === 0) {
    throw reject("TX_TYPE_4_EMPTY_AUTHORIZATION_LIST", "set code tx must have at least one authorization tuple");
  }
  return from;
}

function checkFork(tx: Transaction, hardfork: Hardfork): void {
  if (isTransactionTypeSupported(tx.type, hardfork)) return;
  const since = FORK_NAMES[transactionTypeSince(tx.type)];
  throw reject(
    "TX_TYPE_NOT_SUPPORTED",
    `transaction type not supported: type ${tx.type} rejected, pool not yet in ${since}`,
  );
}

function checkSender(tx: Transaction, sender: Address | undefined, { chainId }: PoolRules): Address {
  if (tx.chainId !== undefined && tx.chainId !== chainId) {
    throw reject(
      "TX_INVALID_SENDER",
      `invalid sender: invalid chain id for signer: have ${tx.chainId} want ${chainId}`,
    );
  }
  if (sender !== undefined) return sender;
  try {
    return recoverSender(tx);
  } catch (cause) {
    if (!(cause instanceof NodeError)) throw cause;
    throw reject("TX_INVALID_SENDER", `invalid sender: ${cause.message}`, { cause });
  }
}

function checkPermissions(tx: Transaction, sender: Address, permissions: AccountRules | undefined): void {
  if (permissions === undefined) return;
  if (!permissions.maySend(sender)) {
    throw reject("POOL_SENDER_NOT_ALLOWED", `${sender} may not send transactions through this node`);
  }
  if (tx.to === null && !permissions.mayDeploy(sender)) {
    throw reject("POOL_DEPLOYER_NOT_ALLOWED", `${sender} may not create contracts through this node`);
  }
}

function checkGas(tx: Transaction, from: Address, rules: PoolRules): void {
  const { intrinsic, floor } = intrinsicGas(tx, from, rules.hardfork);
  if (tx.gasLimit < intrinsic) {
    throw reject("TX_INTRINSIC_GAS_TOO_LOW", `intrinsic gas too low: gas ${tx.gasLimit}, minimum needed ${intrinsic}`);
  }
  if (tx.gasLimit < floor) {
    throw reject(
      "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
      `insufficient gas for floor data gas cost: gas ${tx.gasLimit}, minimum needed ${floor}`,
    );
  }
  const executionMax = executionGasMaxOf(rules.hardfork, rules);
  if (executionMax !== undefined && (intrinsic > executionMax || floor > executionMax)) {
    throw reject(
      "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
      `insufficient gas for floor data gas cost: intrinsic cost ${intrinsic}, floor: ${floor}`,
    );
  }
}

/** Balance of a transaction's sender, and the cost of its pooled transactions. */
type SenderFunds = {
  /** At the head, in wei. */
  readonly balance: bigint;
  readonly spent: bigint;
  /** Cost of the pending transaction with the same nonce. */
  readonly replacedCost: bigint | undefined;
};

/** @throws TransactionRejectedError if the nonce is below the account's */
export function checkNonce(tx: Transaction, accountNonce: bigint): void {
  if (accountNonce <= tx.nonce) return;
  throw reject("TX_NONCE_MISMATCH_TOO_LOW", `nonce too low: next nonce ${accountNonce}, tx nonce ${tx.nonce}`);
}

/**
 * The balance must cover the transaction, together with all pending ones.
 * @throws TransactionRejectedError
 */
export function checkFunds(cost: bigint, { balance, spent, replacedCost }: SenderFunds): void {
  const text = "insufficient funds for gas * price + value";
  const code = "TX_INSUFFICIENT_ACCOUNT_FUNDS";
  if (balance < cost) {
    throw reject(code, `${text}: balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`);
  }
  if (replacedCost !== undefined) {
    const bump = cost - replacedCost;
    const need = spent + bump;
    if (balance < need) {
      throw reject(
        code,
        `${text}: balance ${balance}, queued cost ${spent}, tx bumped ${bump}, overshot ${need - balance}`,
      );
    }
    return;
  }
  const need = spent + cost;
  if (balance < need) {
    throw reject(
      code,
      `${text}: balance ${balance}, queued cost ${spent}, tx cost ${cost}, overshot ${need - balance}`,
    );
  }
}

/** Reasons for which the pool rejects a transaction, named after the rules in execution-spec-tests. */
type PoolRejectionCode = Extract<ErrorCode, `POOL_${string}` | `TX_${string}`>;

/** The pool rejects a transaction. The message is geth's, word for word: ethers and viem recognise the reason by it. */
export class TransactionRejectedError extends NodeError {
  readonly code: PoolRejectionCode;
  constructor(code: PoolRejectionCode, message: string, options?: ErrorOptions) {
    super(message, {}, options);
    this.code = code;
  }
}

export function reject(code: PoolRejectionCode, message: string, options?: ErrorOptions): TransactionRejectedError {
  return new TransactionRejectedError(code, message, options);
}
