import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";
import { InvariantError } from "../errors.ts";
import type { ProcessEntry, ThreadEntry } from "../threads/start-thread.ts";
import { nameThread } from "../threads/thread-priority.ts";

/** The modules that threads and processes run, as the bundle finds them; importing one runs it. */
export const ENTRIES: Readonly<Record<ThreadEntry | ProcessEntry, () => Promise<unknown>>> = {
  "crypto/kzg/prove-blobs.thread": () => import("../crypto/kzg/prove-blobs.thread.ts"),
  "crypto/kzg/verify-sidecar.thread": () => import("../crypto/kzg/verify-sidecar.thread.ts"),
  "dev/fork/fetch-remote.thread": () => import("../dev/fork/fetch-remote.thread.ts"),
  "services/compile-solidity.process": () => import("../services/compile-solidity.process.ts"),
  "services/compile-solidity.thread": () => import("../services/compile-solidity.thread.ts"),
  "compiled-contracts/compile-contracts.thread": () => import("../compiled-contracts/compile-contracts.thread.ts"),
  "calls/execute.thread": () => import("../calls/execute.thread.ts"),
  "calls/speculate.thread": () => import("../calls/speculate.thread.ts"),
  "node/rpc.process": () => import("../node/rpc.process.ts"),
  "shh/find-work.thread": () => import("../shh/find-work.thread.ts"),
  "storage/check-file.thread": () => import("../storage/check-file.thread.ts"),
  "storage/share-check.thread": () => import("../storage/share-check.thread.ts"),
  "types/transaction/recover-authorities.thread": () => import("../types/transaction/recover-authorities.thread.ts"),
  "types/transaction/recover-senders.thread": () => import("../types/transaction/recover-senders.thread.ts"),
};

/** Runs the module `entry` in this thread or process. */
export async function runWorkerEntry(entry: string): Promise<void> {
  const load = ENTRIES[entry as keyof typeof ENTRIES];
  if (load === undefined) throw new InvariantError(`no worker entry "${entry}"`);
  if (!isMainThread) nameThread(basename(entry, ".thread"));
  await load();
}
