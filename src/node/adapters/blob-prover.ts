import { TransactionFieldsError } from "../../rpc/dispatch/errors.ts";
import type { BlobProver } from "../../rpc/ports/tools.ts";
import type { ProveInput, ProveResult } from "../workers/prove-blobs.ts";
import { runInWorker, WorkerTaskError } from "../workers/run-in-worker.ts";

/** The cell proofs of a blob take some three seconds, and a transaction has six blobs at most. */
const LIMITS = { timeoutMs: 60_000, heapMegabytesMax: 512 };

/** Computes what belongs to blobs in a thread of its own, one request after the other. */
export function createBlobProver(): BlobProver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async proveBlobs(blobs, wrapperVersion) {
      const input: ProveInput = { blobs, wrapperVersion };
      const mine = last.then(() => runInWorker<ProveResult>("prove-blobs", input, LIMITS));
      last = mine.catch(() => {});
      try {
        return await mine;
      } catch (cause) {
        if (!(cause instanceof WorkerTaskError)) throw cause;
        throw new TransactionFieldsError(cause.message, {}, { cause });
      }
    },
  };
}
