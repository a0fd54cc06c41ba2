import { serveThread } from "../../threads/serve-thread.ts";
import { lowerThreadPriority } from "../../threads/thread-priority.ts";
import { type PackedSidecar, unpackSidecar } from "./sidecar.ts";
import { VerifiedBlobs } from "./verified-blobs.ts";

/** Strangers choose how much there is to verify; those who wait for anything else come first. */
const NICE = 15;

lowerThreadPriority(NICE);

const verified = new VerifiedBlobs();
const verification = {
  /** What is wrong; undefined: nothing */
  faultOf: (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed)),
};
export type SidecarVerification = typeof verification;
serveThread(verification);
