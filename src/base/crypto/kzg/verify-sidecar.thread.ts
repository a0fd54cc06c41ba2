import { serveThread } from "../../threads/serve-thread.ts";
import { lowerThreadPriority } from "../../threads/thread-priority.ts";
import { type PackedSidecar, unpackSidecar } from "./sidecar.ts";
import { VerifiedBlobs } from "./verified-blobs.ts";

/** Strangers control the amount of work, so all other threads come first. */
const NICE = 15;

lowerThreadPriority(NICE);

const verified = new VerifiedBlobs();
const verification = {
  /** The fault; undefined: valid */
  faultOf: (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed)),
};
export type SidecarVerification = typeof verification;
serveThread(verification);
