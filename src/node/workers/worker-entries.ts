import { InvariantError } from "../../errors.ts";
import type { WorkerEntry } from "./start-worker.ts";

/** The modules that threads and processes run, as the bundle finds them; importing one runs it. */
const WORKER_ENTRIES: Readonly<Record<WorkerEntry, () => Promise<unknown>>> = {
  "compile-contracts": () => import("./compile-contracts.ts"),
  "compile-solidity": () => import("./compile-solidity.ts"),
  "fetch-remote": () => import("./fetch-remote.ts"),
  "find-whisper-work": () => import("./find-whisper-work.ts"),
  execute: () => import("./execute.ts"),
  "recover-senders": () => import("./recover-senders.ts"),
  "prove-blobs": () => import("./prove-blobs.ts"),
  "rpc-worker": () => import("./rpc-worker.ts"),
  "verify-sidecar": () => import("./verify-sidecar.ts"),
};

/** Runs the module `entry` in this thread or process. */
export async function runWorkerEntry(entry: string): Promise<void> {
  const load = (WORKER_ENTRIES as Record<string, (() => Promise<unknown>) | undefined>)[entry];
  if (load === undefined) throw new InvariantError(`no worker entry "${entry}"`);
  await load();
}
