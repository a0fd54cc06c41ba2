import { defineMethod } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** `debug_writeMemProfile`: everything in the heap, as DevTools' `.heapsnapshot`. Nothing else runs meanwhile. @throws FileNameError, AdminError */
export const writeMemProfile = defineMethod({
  name: "debug_writeMemProfile",
  params: { file: string },
  result: json,
  private: true,
  heavy: true,
  async handle({ file }, { runtime }: { runtime: Pick<RuntimePort, "writeHeapProfile"> }) {
    await runtime.writeHeapProfile(file);
    return null;
  },
});
