import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { equalBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { type DecodedPooledTransaction, decodePooledTransaction } from "../../base/types/transaction/decode.ts";
import { maxFeePerGasOf } from "../../base/types/transaction/fees.ts";
import type {
  BlobSidecar,
  BlobTransaction,
  SetCodeTransaction,
  Transaction,
} from "../../base/types/transaction/transaction.ts";
import { checkSize } from "./admission.ts";
import { BLOB_TX_SIZE_MAX, type Submission, TX_SIZE_MAX } from "./pool.ts";
import { kzgRejection } from "./sidecar.ts";

export type SubmissionRules = {
  /** Maximum fee of one transaction for gas, in wei; 0: no limit. */
  readonly txFeeWeiMax: bigint;
  /** Accept legacy transactions without a chain id (EIP-155). */
  readonly allowUnprotected: boolean;
};

/** gas × price exceeds this node's limit for one transaction. */
class FeeCapExceededError extends NodeError {
  readonly code = "RPC_FEE_CAP_EXCEEDED";
}

/** A legacy transaction that could be replayed on any other chain (EIP-155). */
class UnprotectedTransactionError extends NodeError {
  readonly code = "RPC_UNPROTECTED_TRANSACTION";
  constructor() {
    super("only replay-protected (EIP-155) transactions allowed over RPC");
  }
}

export type SubmissionPool = {
  add(submission: Submission): void;
  checkGasLimit(tx: Transaction): void;
  checkBlob(submission: Submission & { readonly tx: BlobTransaction }): 0 | 1;
  checkSetCode(submission: Submission): void;
};

/** KZG work off the chain's thread. */
export interface BlobVerifier {
  /**
   * undefined if the proofs of `sidecar` are valid, otherwise their fault.
   * @throws NodeError if too many are waiting
   */
  verify(sidecar: BlobSidecar): Promise<string | undefined>;
  /**
   * Commitments and cell proofs (EIP-7594) of `blobs`.
   * @throws NodeError for invalid blobs, or if too many are waiting
   */
  prove(
    blobs: readonly Uint8Array[],
    wrapperVersion: 1,
  ): Promise<{
    readonly commitments: readonly Uint8Array[];
    readonly proofs: readonly Uint8Array[];
  }>;
}

/** Recovers signers of authorizations (EIP-7702) off the chain's thread. */
export interface AuthorityRecovery {
  /**
   * Afterwards `recoverAuthority` knows the signers of `tx`.
   * @throws NodeError if too many are waiting
   */
  recover(tx: SetCodeTransaction): Promise<void>;
}

const BLOB_TYPE = 3;

/** Wallets delegate one or two accounts. This many signatures take 0.2 ms; a transaction may have hundreds. */
const AUTHORIZATIONS_AT_ONCE = 4;

/** Whether another thread recovers the signers of its authorizations before it is added to the pool. */
export function hasManyAuthorizations(tx: Transaction): tx is SetCodeTransaction {
  return tx.type === 4 && tx.authorizationList.length > AUTHORIZATIONS_AT_ONCE;
}

/**
 * Decodes a transaction in network form from a caller or peer. Checks its size first, because decoding a long list takes a hundred times as long
 * as reading its bytes; the pool checks the size of what it stores again.
 * @throws NodeError
 */
export function decodeSubmission(transaction: Uint8Array): DecodedPooledTransaction {
  checkSize(transaction.length, transaction[0] === BLOB_TYPE ? BLOB_TX_SIZE_MAX : TX_SIZE_MAX);
  return decodePooledTransaction(transaction);
}

type SubmissionModules = {
  readonly pool: SubmissionPool;
  readonly blobs: BlobVerifier;
  readonly authorities: AuthorityRecovery;
};

/**
 * @param transaction in network form
 * @param sender recovered from its signature by this node, in any process
 */
export type Submit = (transaction: Uint8Array, sender?: Address) => Hash | Promise<Hash>;

/**
 * Submits callers' transactions to the pool: decode, check the rules of submission, verify, add. A returned hash means that the transaction is
 * pooled and stored. The result is a promise only if another thread verifies proofs of blobs or recovers the signers of many authorizations.
 */
export class Submissions {
  readonly #rules: SubmissionRules;
  readonly #modules: SubmissionModules;
  /** Submissions in progress. */
  readonly #inFlight = new Map<Hash, Promise<void>>();

  constructor(rules: SubmissionRules, modules: SubmissionModules) {
    this.#rules = rules;
    this.#modules = modules;
  }

  readonly submit: Submit = (transaction, sender) => {
    const { pool } = this.#modules;
    const { tx, sidecar } = decodeSubmission(transaction);
    try {
      assertSubmittable(tx, this.#rules);
    } catch (error) {
      // A fee above the cap mostly comes from a gas limit that no block has: the caller should learn the cause.
      if (error instanceof FeeCapExceededError) pool.checkGasLimit(tx);
      throw error;
    }
    const known = sender && { sender };
    if (tx.type === 3) return this.#alone(tx.hash, () => this.#addBlob({ tx, ...known, ...(sidecar && { sidecar }) }));
    if (hasManyAuthorizations(tx)) return this.#alone(tx.hash, () => this.#addSetCode({ tx, ...known }));
    pool.add({ tx, ...known });
    return tx.hash;
  };

  /**
   * Runs `add` once no other submission of this transaction runs, so that a repeated one costs no work. It waits for the result, because a copy
   * with wrong proofs, which the signature does not cover, must not shut out the right one.
   */
  async #alone(hash: Hash, add: () => Promise<void>): Promise<Hash> {
    for (let other = this.#inFlight.get(hash); other; other = this.#inFlight.get(hash)) await other;
    let done = () => {};
    this.#inFlight.set(hash, new Promise((resolve) => (done = resolve)));
    try {
      await add();
      return hash;
    } finally {
      this.#inFlight.delete(hash);
      done();
    }
  }

  async #addBlob(submission: Submission & { readonly tx: BlobTransaction }): Promise<void> {
    const { pool, blobs } = this.#modules;
    const wanted = pool.checkBlob(submission);
    // `checkBlob` rejects a transaction without a sidecar.
    const sidecar = await verified(submission.sidecar!, wanted, blobs);
    // Checked again: the pool may have changed meanwhile.
    pool.add({ ...submission, sidecar, isVerified: true });
  }

  async #addSetCode(submission: Submission & { readonly tx: SetCodeTransaction }): Promise<void> {
    const { pool, authorities } = this.#modules;
    pool.checkSetCode(submission);
    await authorities.recover(submission.tx);
    pool.add(submission);
  }
}

/**
 * `sidecar` with valid proofs in the form `wanted`. geth converts sidecars of version 0 after Osaka. The new proofs are computed from the blobs
 * alone, so that the old ones need not be trusted.
 */
async function verified(sidecar: BlobSidecar, wanted: 0 | 1, blobs: BlobVerifier): Promise<BlobSidecar> {
  if (sidecar.wrapperVersion === wanted) {
    const fault = await blobs.verify(sidecar);
    if (fault !== undefined) throw kzgRejection(fault);
    return sidecar;
  }
  const { commitments, proofs } = await blobs.prove(sidecar.blobs, 1);
  if (!commitments.every((commitment, i) => equalBytes(commitment, sidecar.commitments[i]!))) {
    throw kzgRejection("can't verify opening proof");
  }
  return { ...sidecar, wrapperVersion: 1, proofs };
}

/**
 * Protects callers, whatever the pool would accept.
 * @throws FeeCapExceededError, UnprotectedTransactionError
 */
export function assertSubmittable(tx: Transaction, rules: SubmissionRules): void {
  assertFeeBelowCap(maxFeePerGasOf(tx) * tx.gasLimit, rules.txFeeWeiMax);
  if (tx.type === 0 && tx.chainId === undefined && !rules.allowUnprotected) {
    throw new UnprotectedTransactionError();
  }
}

const WEI_PER_ETHER = 1e18;

function assertFeeBelowCap(feeWei: bigint, capWei: bigint): void {
  if (capWei === 0n || feeWei <= capWei) return;
  throw new FeeCapExceededError(`tx fee (${ether(feeWei)} ether) exceeds the configured cap (${ether(capWei)} ether)`, {
    feeWei,
    capWei,
  });
}

/** With two decimals; `toFixed` switches to an exponent at 10^21. */
function ether(wei: bigint): string {
  const value = Number(wei) / WEI_PER_ETHER;
  return value < 1e21 ? value.toFixed(2) : `${BigInt(value)}.00`;
}
