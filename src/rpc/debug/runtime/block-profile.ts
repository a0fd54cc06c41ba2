import { defineMethod } from "../../dispatch/method.ts";
import { json, jsonInteger, string } from "../../params/codec.ts";
import type { RuntimePort } from "../../ports/runtime.ts";
import { recordMethod } from "./profile-methods.ts";

/** `debug_blockProfile`: the stacks that hold up the event loop for some seconds, as DevTools' `.cpuprofile`. */
export const blockProfile = recordMethod("debug_blockProfile", "block");

/** `debug_setBlockProfileRate`: from now on stalls of at least so many nanoseconds are recorded; 0 or less ends that. */
export const setBlockProfileRate = defineMethod({
  name: "debug_setBlockProfileRate",
  params: { rate: jsonInteger },
  result: json,
  private: true,
  async handle({ rate }, { runtime }: { runtime: Pick<RuntimePort, "setBlockProfileRate"> }) {
    await runtime.setBlockProfileRate(rate);
    return null;
  },
});

/** `debug_writeBlockProfile`: writes the stalls recorded so far. @throws FileNameError, AdminError */
export const writeBlockProfile = defineMethod({
  name: "debug_writeBlockProfile",
  params: { file: string },
  result: json,
  private: true,
  async handle({ file }, { runtime }: { runtime: Pick<RuntimePort, "writeBlockProfile"> }) {
    await runtime.writeBlockProfile(file);
    return null;
  },
});
