import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { initCodeSizeMaxOf, txGasLimitMaxOf } from "../../../base/params/execution-limits.ts";
import { BLOB_HASH_VERSION_KZG, BLOBS_PER_TX_MAX } from "../../../base/params/gas.ts";
import { RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { effectiveTip } from "../../../base/types/transaction/fees.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { BlockContext } from "../../machine/evm.ts";
import type { State } from "../../machine/state-port.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import { InvalidTransactionError } from "../errors.ts";
import { delegationTarget } from "./authorizations.ts";
import type { TransactionMessage } from "./message.ts";

/** Checks that a call, unlike a transaction, skips. */
export type MessageChecks = {
  /** The nonce need not fit. */
  readonly skipNonce?: boolean;
  /** The sender may be a contract and the gas limit above EIP-7825's cap. */
  readonly skipTransactionChecks?: boolean;
  /** A price of 0 is not compared with the base fee, and no one is paid (eth_call). */
  readonly noBaseFee?: boolean;
  /** All of the gas is for execution: EIP-8037's division of what is above 2^24 is left out. */
  readonly isGasWhole?: boolean;
};

/**
 * The least tip that the nodes of the chain agree on, where they do: a rule of blocks that are made or imported, which calls and the
 * execution of old blocks do not check.
 * @param baseFee of the block, in wei; 0 before London
 * @throws InvalidTransactionError
 */
export function checkMinimumTip(tx: Transaction, baseFee: bigint, { minimumTip = 0n }: ChainConfig): void {
  if (minimumTip === 0n) return;
  const tip = effectiveTip(tx, baseFee);
  if (tip >= minimumTip) return;
  throw new InvalidTransactionError(
    "TX_TIP_BELOW_AGREED_MINIMUM",
    `transaction tip ${tip} below the chain's minimum ${minimumTip}`,
    { tip, minimumTip },
  );
}

const UINT64_MAX = 2n ** 64n - 1n;

/**
 * The rules of geth's `preCheck`, in its order: everything that does not depend on the gas left in the block or on balances.
 * @throws InvalidTransactionError
 */
export function validateMessage(
  message: TransactionMessage,
  block: BlockContext,
  state: State,
  checks: MessageChecks = {},
): void {
  if (!checks.skipNonce) checkNonce(message, state);
  if (!checks.skipTransactionChecks) {
    checkGasLimitCap(message, block);
    if (!message.isImpersonated && !block.devRules) checkSenderIsNoContract(message, state);
  }
  if (RULES_AT[block.hardfork].london) checkFees(message, block, checks);
  checkBlobs(message, block);
  if (RULES_AT[block.hardfork].cancun) checkBlobFee(message, block, checks);
  checkAuthorizationList(message);
  checkInitCodeSize(message, block);
}

function checkNonce({ from, nonce }: TransactionMessage, state: State): void {
  const accountNonce = (state.account(from) ?? EMPTY_ACCOUNT).nonce;
  if (nonce === accountNonce && nonce < UINT64_MAX) return;
  const details = { nonce, accountNonce };
  const address = checksumAddress(from);
  if (nonce > accountNonce) {
    throw new InvalidTransactionError(
      "TX_NONCE_MISMATCH_TOO_HIGH",
      `nonce too high: address ${address}, tx: ${nonce} state: ${accountNonce}`,
      details,
    );
  }
  if (nonce < accountNonce) {
    throw new InvalidTransactionError(
      "TX_NONCE_MISMATCH_TOO_LOW",
      `nonce too low: address ${address}, tx: ${nonce} state: ${accountNonce}`,
      details,
    );
  }
  throw new InvalidTransactionError(
    "TX_NONCE_IS_MAX",
    `nonce has max value: address ${address}, nonce: ${accountNonce}`,
    details,
  );
}

/** EIP-7825, EIP-8037 */
function checkGasLimitCap({ gasLimit }: TransactionMessage, block: BlockContext): void {
  const cap = txGasLimitMaxOf(block.hardfork, block);
  if (cap !== undefined && gasLimit > cap) {
    throw new InvalidTransactionError(
      "TX_GAS_LIMIT_EXCEEDS_MAXIMUM",
      `transaction gas limit too high (cap: ${cap}, tx: ${gasLimit})`,
      { gasLimit },
    );
  }
}

/** EIP-3607; a delegated account (EIP-7702) may still send. */
function checkSenderIsNoContract({ from }: TransactionMessage, state: State): void {
  const account = state.account(from);
  const code = account && state.code(account.codeHash);
  if (code && code.length > 0 && delegationTarget(code) === undefined) {
    throw new InvalidTransactionError(
      "TX_SENDER_NOT_EOA",
      `sender not an eoa: address ${checksumAddress(from)}, len(code): ${code.length}`,
      { from },
    );
  }
}

/** EIP-1559 */
function checkFees(
  { from, maxFeePerGas, maxPriorityFeePerGas }: TransactionMessage,
  { baseFeePerGas }: BlockContext,
  { noBaseFee }: MessageChecks,
): void {
  if (noBaseFee && maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) return;
  if (maxPriorityFeePerGas <= maxFeePerGas && maxFeePerGas >= baseFeePerGas) return;
  const details = { maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas };
  const address = checksumAddress(from);
  if (maxPriorityFeePerGas > maxFeePerGas) {
    throw new InvalidTransactionError(
      "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS",
      `max priority fee per gas higher than max fee per gas: address ${address}, maxPriorityFeePerGas: ${maxPriorityFeePerGas}, maxFeePerGas: ${maxFeePerGas}`,
      details,
    );
  }
  throw insufficientMaxFee({ from, ...details });
}

/** The transaction pays less per gas than every transaction of the block has to. */
export function insufficientMaxFee({
  from,
  ...details
}: {
  readonly from: Address;
  readonly maxFeePerGas: bigint;
  readonly baseFeePerGas: bigint;
}): InvalidTransactionError {
  const { maxFeePerGas, baseFeePerGas } = details;
  return new InvalidTransactionError(
    "TX_INSUFFICIENT_MAX_FEE_PER_GAS",
    `max fee per gas less than block base fee: address ${checksumAddress(from)}, maxFeePerGas: ${maxFeePerGas}, baseFee: ${baseFeePerGas}`,
    details,
  );
}

/** EIP-4844; the limit for one transaction is EIP-7594's. */
function checkBlobs({ to, blobVersionedHashes }: TransactionMessage, block: BlockContext): void {
  if (blobVersionedHashes === undefined) return;
  if (to === null) {
    throw new InvalidTransactionError("TX_TYPE_3_TX_CONTRACT_CREATION", "blob transaction of type create");
  }
  if (blobVersionedHashes.length === 0) {
    throw new InvalidTransactionError("TX_TYPE_3_TX_ZERO_BLOBS", "blob transaction missing blob hashes");
  }
  if (RULES_AT[block.hardfork].osaka && blobVersionedHashes.length > BLOBS_PER_TX_MAX) {
    throw new InvalidTransactionError("TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED", "blob transaction has too many blobs", {
      count: blobVersionedHashes.length,
    });
  }
  const invalid = blobVersionedHashes.findIndex(
    (hash) => Number.parseInt(hash.slice(2, 4), 16) !== BLOB_HASH_VERSION_KZG,
  );
  if (invalid !== -1) {
    throw new InvalidTransactionError(
      "TX_TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH",
      `blob ${invalid} has invalid hash version`,
      { index: invalid },
    );
  }
}

function checkBlobFee(
  { from, blobVersionedHashes = [], maxFeePerBlobGas = 0n }: TransactionMessage,
  { blobBaseFee }: BlockContext,
  { noBaseFee }: MessageChecks,
): void {
  if (blobVersionedHashes.length === 0 || (noBaseFee && maxFeePerBlobGas === 0n)) return;
  if (maxFeePerBlobGas < blobBaseFee) {
    throw new InvalidTransactionError(
      "TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS",
      `max fee per blob gas less than block blob gas fee: address ${checksumAddress(from)} blobGasFeeCap: ${maxFeePerBlobGas}, blobBaseFee: ${blobBaseFee}`,
      { maxFeePerBlobGas, blobBaseFee },
    );
  }
}

/** EIP-7702 */
function checkAuthorizationList({ from, to, authorizationList }: TransactionMessage): void {
  if (authorizationList === undefined) return;
  if (to === null) {
    throw new InvalidTransactionError(
      "TX_TYPE_4_TX_CONTRACT_CREATION",
      `EIP-7702 transaction cannot be used to create contract (sender ${checksumAddress(from)})`,
    );
  }
  if (authorizationList.length === 0) {
    throw new InvalidTransactionError(
      "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST",
      `EIP-7702 transaction with empty auth list (sender ${checksumAddress(from)})`,
    );
  }
}

/** EIP-3860 */
function checkInitCodeSize({ to, data }: TransactionMessage, block: BlockContext): void {
  const limit = initCodeSizeMaxOf(block.hardfork, block);
  if (to === null && RULES_AT[block.hardfork].shanghai && data.length > limit) {
    throw new InvalidTransactionError(
      "TX_INITCODE_SIZE_EXCEEDED",
      `max initcode size exceeded: code size ${data.length} limit ${limit}`,
      { size: data.length },
    );
  }
}
