import { type PackedSidecar, unpackSidecar } from "../../crypto/kzg/sidecar.ts";
import { VerifiedBlobs } from "../../crypto/kzg/verified-blobs.ts";
import { serveTasks } from "./serve-tasks.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** Strangers choose how much there is to verify; those who wait for anything else come first. */
const NICE = 15;

lowerThreadPriority(NICE);

const verified = new VerifiedBlobs();
serveTasks<PackedSidecar, string | undefined>((packed) => verified.faultOf(unpackSidecar(packed)));
