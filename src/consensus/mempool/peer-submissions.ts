import { NodeError } from "../../base/errors.ts";
import { equalBytes } from "../../base/primitives/bytes.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { BlobSidecar, BlobTransaction, SetCodeTransaction } from "../../base/types/transaction/transaction.ts";
import { reject } from "./admission.ts";
import type { Submission } from "./pool.ts";
import { checkSidecar } from "./sidecar.ts";
import { type AuthorityRecovery, hasManyAuthorizations, type SubmissionPool } from "./submission.ts";

/** Peers' transactions that wait for the verification of proofs or signers, each up to 1 MiB. Peers announce rejected ones again. */
const WAITING_MAX = 16;
/**
 * Pause before the next verification for a peer after a wrong proof; doubles with each further one. So peers with wrong proofs use only a
 * fraction of a processor. The first valid proof ends it.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Too many of peers' transactions are being verified. */
class PeerQueueFullError extends NodeError {
  readonly code = "POOL_PEER_QUEUE_FULL";
  constructor() {
    super("too many transactions of peers are being verified");
  }
}

type PeerSubmissionModules = {
  readonly pool: Pick<SubmissionPool, "add" | "checkBlob" | "checkSetCode">;
  readonly blobs: {
    /** undefined if the proofs of `sidecar` are valid, otherwise their fault. */
    verifyForPeer(sidecar: BlobSidecar): Promise<string | undefined>;
  };
  readonly authorities: AuthorityRecovery;
  /** @throws NodeError while peers' transactions are deferred */
  readonly assertOpen?: (() => void) | undefined;
  readonly log: Logger;
  readonly timers: Pick<Timers, "sleep">;
};

/** Runs the addition of a transaction to the pool, so that the caller can mark it as a peer's. */
export type RunAdd = (add: () => void) => void;

type BlobSubmission = Submission & { readonly tx: BlobTransaction };
type SetCodeSubmission = Submission & { readonly tx: SetCodeTransaction };
type Waiting = { readonly submission: BlobSubmission | SetCodeSubmission; readonly run: RunAdd };

/**
 * Submits peers' transactions to the pool. Cheap checks run synchronously. Another thread verifies proofs of blobs and recovers the signers of
 * many authorizations, one transaction at a time, so that neither consensus nor callers wait for a peer.
 */
export class PeerSubmissions {
  readonly #modules: PeerSubmissionModules;
  /** The first one is being verified. */
  readonly #waiting: Waiting[] = [];
  #wrongInARow = 0;

  constructor(modules: PeerSubmissionModules) {
    this.#modules = modules;
  }

  /** Transactions being verified or waiting for it. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @param run runs the addition, now or after another thread's work on the transaction
   * @throws NodeError if the transaction is rejected now
   */
  submit(submission: Submission, run: RunAdd): void {
    const { pool, assertOpen } = this.#modules;
    assertOpen?.();
    if (!needsWork(submission)) {
      run(() => pool.add(submission));
      return;
    }
    if (this.#waiting.some((other) => isSame(other.submission, submission))) {
      throw reject("POOL_ALREADY_KNOWN", "already known");
    }
    if (this.#waiting.length >= WAITING_MAX) throw new PeerQueueFullError();
    if (isBlobSubmission(submission)) {
      const wanted = pool.checkBlob(submission);
      // Only callers get pre-Osaka sidecars converted, because that takes seconds.
      checkSidecar(submission.tx, submission.sidecar, wanted);
    } else pool.checkSetCode(submission);
    this.#waiting.push({ submission, run });
    if (this.#waiting.length === 1) void this.#verifyAll();
  }

  async #verifyAll(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isRight = await this.#verify(next);
      this.#waiting.shift();
      this.#wrongInARow = isRight ? 0 : this.#wrongInARow + 1;
      if (isRight) continue;
      const pauseMs = FIRST_PAUSE_MS * 2 ** (this.#wrongInARow - 1);
      await this.#modules.timers.sleep(Math.min(pauseMs, LONGEST_PAUSE_MS), { keepsAlive: false });
    }
  }

  async #verify({ submission, run }: Waiting): Promise<boolean> {
    const { pool, blobs, authorities, log } = this.#modules;
    const { hash } = submission.tx;
    try {
      if (isBlobSubmission(submission)) {
        const fault = await blobs.verifyForPeer(submission.sidecar!);
        if (fault !== undefined) {
          log.debug("wrong blob proof from a peer", { hash, fault });
          return false;
        }
      } else await authorities.recover(submission.tx);
      run(() => pool.add({ ...submission, isVerified: true }));
    } catch (error) {
      // The pool has changed, or the node stops. Peers that still have the transaction announce it again.
      const isExpected = error instanceof NodeError;
      log[isExpected ? "debug" : "error"]("transaction of a peer rejected", { hash, error });
    }
    return true;
  }
}

function needsWork(submission: Submission): submission is Waiting["submission"] {
  return isBlobSubmission(submission) || hasManyAuthorizations(submission.tx);
}

function isBlobSubmission(submission: Submission): submission is BlobSubmission {
  return submission.tx.type === 3;
}

/** The signature does not cover the sidecar. With other proofs it is another submission; otherwise a wrong copy would shut out the right one. */
function isSame({ tx, sidecar: a }: Submission, { tx: other, sidecar: b }: Submission): boolean {
  if (tx.hash !== other.hash) return false;
  if (a === undefined || b === undefined) return a === b;
  if (a.wrapperVersion !== b.wrapperVersion) return false;
  return areEqual(a.blobs, b.blobs) && areEqual(a.proofs, b.proofs);
}

function areEqual(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((item, i) => equalBytes(item, b[i]!));
}
