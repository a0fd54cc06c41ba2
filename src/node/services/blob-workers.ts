import type { proving } from "../../base/crypto/kzg/prove-blobs.thread.ts";
import { packSidecar } from "../../base/crypto/kzg/sidecar.ts";
import type { SidecarVerification } from "../../base/crypto/kzg/verify-sidecar.thread.ts";
import { NodeError } from "../../base/errors.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { Pool, type ThreadLostError } from "../../base/threads/pool.ts";
import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";
import { reject } from "../../consensus/mempool/admission.ts";
import type { BLOB_QUEUE_LIMITS } from "../../consensus/mempool/pool.ts";
import type { BlobVerifier } from "../../consensus/mempool/submission.ts";
import type { BlobProver } from "../../rpc/ports/tools.ts";
import { TransactionFieldsError } from "../../rpc/transport/errors.ts";

/** Too many requests wait for a thread that works on blobs. */
class BlobQueueFullError extends NodeError {
  readonly code = "POOL_BLOB_QUEUE_FULL";
  constructor() {
    super("too many blob transactions are being verified or proven, try again later");
  }
}

export type BlobWorkerOptions = { readonly [Name in keyof typeof BLOB_QUEUE_LIMITS]: number };

/** KZG work in two threads: one for verification, one for proofs, which take a hundred times as long. */
export type BlobWorkers = BlobVerifier & {
  readonly prover: BlobProver;
  /** `verify` for one peer's transaction at a time: it queues behind callers, and at most one such transaction is ahead of a caller. */
  verifyForPeer(sidecar: BlobSidecar): Promise<string | undefined>;
  /** Invalid sidecars so far. */
  wrongProofs(): number;
  /** Work that is running or queued. */
  waiting(): { readonly verifications: number; readonly proofs: number };
  close(): void;
};

/**
 * Only a thread that hangs takes so long. A transaction has at most six blobs: their cell proofs take some twenty seconds of CPU and a verification half
 * a second, but a thread of lower priority gets little of a loaded machine.
 */
const WORK_MS_MAX = 600_000;
/** Delays the rejection of a wrong proof, so that a caller that sends them one after the other uses at most half a processor. */
const WRONG_PROOF_PAUSE_MS = 500;

export function createBlobWorkers(
  options: BlobWorkerOptions,
  { log, timers }: { readonly log: Logger; readonly timers: Timers },
): BlobWorkers {
  const { verificationsMax, proofsMax } = options;
  let wrongProofs = 0;
  const onLost = (error: ThreadLostError) => log.error("blob thread ended", { error });
  const verification = new Pool<SidecarVerification>(
    {
      entry: "base/crypto/kzg/verify-sidecar.thread",
      count: 1,
      waitingMax: verificationsMax,
      heapMegabytesMax: 256,
      onLost,
    },
    timers,
  );
  const prover = new Pool<typeof proving>(
    {
      entry: "base/crypto/kzg/prove-blobs.thread",
      count: 1,
      waitingMax: proofsMax,
      heapMegabytesMax: 512,
      onLost,
    },
    timers,
  );

  async function verifyAtOnce(sidecar: BlobSidecar): Promise<string | undefined> {
    const packed = packSidecar(sidecar);
    const fault =
      packed === undefined
        ? "wrong length"
        : await verification.call("faultOf", packed, {
            timeoutMs: WORK_MS_MAX,
            moved: [packed.bytes.buffer],
          });
    if (fault !== undefined) wrongProofs++;
    return fault;
  }

  async function verify(sidecar: BlobSidecar): Promise<string | undefined> {
    if (verification.isFull()) throw new BlobQueueFullError();
    const fault = await verifyAtOnce(sidecar);
    if (fault !== undefined) await timers.sleep(WRONG_PROOF_PAUSE_MS);
    return fault;
  }

  /** @param rejectionOf the error for bytes that are not a blob */
  async function prove(input: Parameters<(typeof proving)["prove"]>[0], rejectionOf: (error: Error) => NodeError) {
    if (prover.isFull()) throw new BlobQueueFullError();
    try {
      return await prover.call("prove", input, { timeoutMs: WORK_MS_MAX });
    } catch (error) {
      throw rejectionOf(error as Error);
    }
  }

  return {
    verify,
    verifyForPeer: verifyAtOnce,
    wrongProofs: () => wrongProofs,
    prove: (blobs, wrapperVersion) =>
      prove({ blobs, wrapperVersion }, (cause) =>
        reject("POOL_KZG_VERIFICATION_FAILED", `blob sidecar conversion failed: ${cause.message}`, {
          cause,
        }),
      ),
    prover: {
      proveBlobs: ({ blobs, wrapperVersion }) =>
        prove({ blobs, wrapperVersion }, (cause) => new TransactionFieldsError(cause.message, {}, { cause })),
      verifyBlobs: verify,
    },
    waiting: () => ({
      verifications: verification.busy + verification.waiting,
      proofs: prover.busy + prover.waiting,
    }),
    close() {
      void verification.close();
      void prover.close();
    },
  };
}
