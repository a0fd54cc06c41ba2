import type { RecordingKind } from "../../ports/runtime.ts";
import { json, jsonInteger, lenientInteger, string } from "../../transport/codec.ts";
import type { Method } from "../../transport/dispatch/method.ts";
import { defineMethod } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/**
 * A method that records for `seconds` and writes a new file below the home's debug folder.
 * @throws DebugError where it is recorded already, FileNameError, AdminError
 */
function recordMethod(name: string, kind: RecordingKind): Method<ServingPorts> {
  return defineMethod({
    name,
    params: { file: string, seconds: lenientInteger },
    result: json,
    private: true,
    async handle({ file, seconds }, { runtime }) {
      await runtime.recordProfile({ kind, file, seconds });
      return null;
    },
  });
}

/** A method that begins to record. @throws as `recordMethod` */
function startMethod(name: string, kind: RecordingKind): Method<ServingPorts> {
  return defineMethod({
    name,
    params: { file: string },
    result: json,
    private: true,
    async handle({ file }, { runtime }) {
      await runtime.startProfile({ kind, file });
      return null;
    },
  });
}

/** A method that ends the recording and writes its file. @throws DebugError where nothing is recorded */
function stopMethod(name: string, kind: RecordingKind): Method<ServingPorts> {
  return defineMethod({
    name,
    params: {},
    result: json,
    private: true,
    async handle(_params, { runtime }) {
      await runtime.stopProfile({ kind });
      return null;
    },
  });
}

/** `debug_blockProfile`: records for the given seconds the stacks that block the event loop, and writes a `.cpuprofile` for DevTools. */
export const blockProfile = recordMethod("debug_blockProfile", "block");

/** `debug_setBlockProfileRate`: records event-loop stalls of at least `rate` nanoseconds from now on; 0 or less stops recording. */
export const setBlockProfileRate = defineMethod({
  name: "debug_setBlockProfileRate",
  params: { rate: jsonInteger },
  result: json,
  private: true,
  async handle({ rate }, { runtime }) {
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
  async handle({ file }, { runtime }) {
    await runtime.writeBlockProfile({ file });
    return null;
  },
});

/**
 * `debug_mutexProfile`: records for the given seconds what code waits for, and where: sender locks, the call queue, turns and other
 * threads. The file is for `go tool pprof`.
 */
export const mutexProfile = recordMethod("debug_mutexProfile", "mutex");

/** `debug_setMutexProfileFraction`: records one in `rate` waits from now on; 0 or less stops recording. */
export const setMutexProfileFraction = defineMethod({
  name: "debug_setMutexProfileFraction",
  params: { rate: jsonInteger },
  result: json,
  private: true,
  async handle({ rate }, { runtime }) {
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
  async handle({ file }, { runtime }) {
    await runtime.writeMutexProfile({ file });
    return null;
  },
});

/** `debug_cpuProfile`: profiles CPU time for the given seconds and writes a `.cpuprofile` for DevTools. */
export const cpuProfile = recordMethod("debug_cpuProfile", "cpu");

/** `debug_startCPUProfile`: profiles CPU time by function until `debug_stopCPUProfile` writes the file. */
export const startCpuProfile = startMethod("debug_startCPUProfile", "cpu");

/** `debug_stopCPUProfile`: stops the CPU profile and writes the file. */
export const stopCpuProfile = stopMethod("debug_stopCPUProfile", "cpu");

/** `debug_goTrace`: records Node's and V8's activity for the given seconds in Chrome's trace event format. */
export const goTrace = recordMethod("debug_goTrace", "trace");

/** `debug_startGoTrace`: records Node's and V8's activity until `debug_stopGoTrace` writes the file in Chrome's trace event format. */
export const startGoTrace = startMethod("debug_startGoTrace", "trace");

/** `debug_stopGoTrace`: stops the trace and writes the file. */
export const stopGoTrace = stopMethod("debug_stopGoTrace", "trace");

/**
 * `debug_writeMemProfile`: writes a `.heapsnapshot` of the whole heap for DevTools. The process is paused meanwhile. @throws FileNameError,
 * AdminError
 */
export const writeMemProfile = defineMethod({
  name: "debug_writeMemProfile",
  params: { file: string },
  result: json,
  private: true,
  heavy: true,
  async handle({ file }, { runtime }) {
    await runtime.writeHeapProfile({ file });
    return null;
  },
});
