import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";
import { InvariantError } from "../../base/errors.ts";
import type { ProcessEntry, ThreadEntry } from "../../base/threads/start-thread.ts";
import { nameThread } from "../../base/threads/thread-priority.ts";

/** The modules of threads and processes in the bundle; importing one runs it. */
export const ENTRIES: Readonly<Record<ThreadEntry | ProcessEntry, () => Promise<unknown>>> = {
  "base/crypto/kzg/prove-blobs.thread": () => import("../../base/crypto/kzg/prove-blobs.thread.ts"),
  "base/crypto/kzg/verify-sidecar.thread": () => import("../../base/crypto/kzg/verify-sidecar.thread.ts"),
  "dev/fork/fetch-remote.thread": () => import("../../dev/fork/fetch-remote.thread.ts"),
  "node/services/compile-solidity.process": () => import("../../node/services/compile-solidity.process.ts"),
  "node/services/compile-solidity.thread": () => import("../../node/services/compile-solidity.thread.ts"),
  "node/compiled-contracts/compile-contracts.thread": () =>
    import("../../node/compiled-contracts/compile-contracts.thread.ts"),
  "node/calls/execute.thread": () => import("../../node/calls/execute.thread.ts"),
  "node/calls/speculate.thread": () => import("../../node/calls/speculate.thread.ts"),
  "node/roles/rpc.process": () => import("../../node/roles/rpc.process.ts"),
  "heritage/shh/find-work.thread": () => import("../../heritage/shh/find-work.thread.ts"),
  "store/storage/lmdb/check-file.thread": () => import("../../store/storage/lmdb/check-file.thread.ts"),
  "store/storage/lmdb/share-check.thread": () => import("../../store/storage/lmdb/share-check.thread.ts"),
  "base/types/transaction/recover-authorities.thread": () =>
    import("../../base/types/transaction/recover-authorities.thread.ts"),
  "base/types/transaction/recover-senders.thread": () =>
    import("../../base/types/transaction/recover-senders.thread.ts"),
};

/** Runs the module `entry` in this thread or process. */
export async function runWorkerEntry(entry: string): Promise<void> {
  const load = ENTRIES[entry as keyof typeof ENTRIES];
  if (load === undefined) throw new InvariantError(`no worker entry "${entry}"`);
  if (!isMainThread) nameThread(basename(entry, ".thread"));
  await load();
}
