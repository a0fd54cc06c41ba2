import { VerifiedBlobs } from "../../crypto/kzg/verified-blobs.ts";
import type { BlobSidecar } from "../../types/transaction/transaction.ts";
import { serveTasks } from "./serve-tasks.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** Strangers choose how much there is to verify; those who wait for anything else come first. */
const NICE = 5;

lowerThreadPriority(NICE);

const verified = new VerifiedBlobs();
serveTasks<BlobSidecar, string | undefined>((sidecar) => verified.faultOf(sidecar));
