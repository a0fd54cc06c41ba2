import { BLOB_MUTANTS } from "./blobs.ts";
import { CHAIN_MUTANTS } from "./chain.ts";
import { CONSENSUS_MUTANTS } from "./consensus.ts";
import type { Mutant } from "./mutant.ts";
import { POOL_MUTANTS } from "./pool.ts";
import { SNAPSHOT_MUTANTS } from "./snapshots.ts";
import { SPECULATION_MUTANTS } from "./speculation.ts";
import { STORAGE_MUTANTS } from "./storage.ts";
import { SUPERVISION_MUTANTS } from "./supervision.ts";
import { THREAD_MUTANTS } from "./threads.ts";

/** Every deliberate fault, by subject. */
export const ALL_MUTANTS: readonly Mutant[] = [
  ...STORAGE_MUTANTS,
  ...CHAIN_MUTANTS,
  ...POOL_MUTANTS,
  ...BLOB_MUTANTS,
  ...CONSENSUS_MUTANTS,
  ...SUPERVISION_MUTANTS,
  ...THREAD_MUTANTS,
  ...SPECULATION_MUTANTS,
  ...SNAPSHOT_MUTANTS,
];
