import { findWork, type Work } from "../../shh/proof-of-work.ts";
import { serveTasks } from "./serve-tasks.ts";

export type WhisperWorkInput = {
  readonly seed: Uint8Array;
  readonly milliseconds: number;
};

serveTasks<WhisperWorkInput, Work>(({ seed, milliseconds }) => findWork(seed, milliseconds));
