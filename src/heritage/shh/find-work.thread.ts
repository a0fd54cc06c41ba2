import { serveThread } from "../../base/threads/serve-thread.ts";
import { findWork } from "./proof-of-work.ts";

const work = {
  find: (input: { readonly seed: Uint8Array; readonly milliseconds: number }) =>
    findWork(input.seed, input.milliseconds),
};
export type WhisperWork = typeof work;
serveThread(work);
