import type { RecordingKind, RuntimePort } from "../../ports/runtime.ts";
import { json, jsonInteger, lenientInteger, string } from "../../transport/codec.ts";
import { defineMethod, type Method } from "../../transport/dispatch/method.ts";

type Modules = {
  readonly runtime: Pick<RuntimePort, "startProfile" | "stopProfile" | "recordProfile">;
};

/**
 * A method that records for `seconds` and writes a new file below the home's debug folder.
 * @throws DebugError where it is recorded already, FileNameError, AdminError
 */
function recordMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: { file: string, seconds: lenientInteger },
    result: json,
    private: true,
    async handle({ file, seconds }, { runtime }: Modules) {
      await runtime.recordProfile({ kind, file, seconds });
      return null;
    },
  });
}

/** A method that begins to record. @throws as `recordMethod` */
function startMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: { file: string },
    result: json,
    private: true,
    async handle({ file }, { runtime }: Modules) {
      await runtime.startProfile({ kind, file });
      return null;
    },
  });
}

/** A method that ends the recording and writes its file. @throws DebugError where nothing is recorded */
function stopMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: {},
    result: json,
    private: true,
    async handle(_params, { runtime }: Modules) {
      await runtime.stopProfile({ kind });
      return null;
    },
  });
}

/** `debug_blockProfile`: the stacks that hold up the event loop for some seconds, as DevTools' `.cpuprofile`. */
export const blockProfile = recordMethod("debug_blockProfile", "block");

/** `debug_setBlockProfileRate`: from now on stalls of at least so many nanoseconds are recorded; 0 or less ends that. */
export const setBlockProfileRate = defineMethod({
  name: "debug_setBlockProfileRate",
  params: { rate: jsonInteger },
  result: json,
  private: true,
  async handle({ rate }, { runtime }: { runtime: Pick<RuntimePort, "setBlockProfileRate"> }) {
    await runtime.setBlockProfileRate({ nanoseconds: rate });
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
    await runtime.writeBlockProfile({ file });
    return null;
  },
});

/** `debug_mutexProfile`: what is waited for during some seconds, and where: locks of senders, the queue of calls, turns and other threads; for `go tool pprof`. */
export const mutexProfile = recordMethod("debug_mutexProfile", "mutex");

/** `debug_setMutexProfileFraction`: from now on one of so many waits is recorded; 0 or less ends that. */
export const setMutexProfileFraction = defineMethod({
  name: "debug_setMutexProfileFraction",
  params: { rate: jsonInteger },
  result: json,
  private: true,
  async handle({ rate }, { runtime }: { runtime: Pick<RuntimePort, "setMutexProfileFraction"> }) {
    await runtime.setMutexProfileFraction({ fraction: rate });
    return null;
  },
});

/** `debug_writeMutexProfile`: writes the waits recorded so far. @throws FileNameError, AdminError */
export const writeMutexProfile = defineMethod({
  name: "debug_writeMutexProfile",
  params: { file: string },
  result: json,
  private: true,
  async handle({ file }, { runtime }: { runtime: Pick<RuntimePort, "writeMutexProfile"> }) {
    await runtime.writeMutexProfile({ file });
    return null;
  },
});

/** `debug_cpuProfile`: where CPU time goes for some seconds, as DevTools' `.cpuprofile`. */
export const cpuProfile = recordMethod("debug_cpuProfile", "cpu");

/** `debug_startCPUProfile`: profiles the processor time of functions until `debug_stopCPUProfile`, which writes the file. */
export const startCpuProfile = startMethod("debug_startCPUProfile", "cpu");

/** `debug_stopCPUProfile`: ends what `debug_startCPUProfile` began and writes the file. */
export const stopCpuProfile = stopMethod("debug_stopCPUProfile", "cpu");

/** `debug_goTrace`: what Node and V8 do for some seconds, in Chrome's trace event format. */
export const goTrace = recordMethod("debug_goTrace", "trace");

/** `debug_startGoTrace`: records what Node and V8 do until `debug_stopGoTrace`, which writes the file in Chrome's trace event format. */
export const startGoTrace = startMethod("debug_startGoTrace", "trace");

/** `debug_stopGoTrace`: ends what `debug_startGoTrace` began and writes the file. */
export const stopGoTrace = stopMethod("debug_stopGoTrace", "trace");

/** `debug_writeMemProfile`: everything in the heap, as DevTools' `.heapsnapshot`. Nothing else runs meanwhile. @throws FileNameError, AdminError */
export const writeMemProfile = defineMethod({
  name: "debug_writeMemProfile",
  params: { file: string },
  result: json,
  private: true,
  heavy: true,
  async handle({ file }, { runtime }: { runtime: Pick<RuntimePort, "writeHeapProfile"> }) {
    await runtime.writeHeapProfile({ file });
    return null;
  },
});
