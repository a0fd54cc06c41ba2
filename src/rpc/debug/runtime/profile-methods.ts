import { defineMethod, type Method } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";
import type { RecordingKind, RuntimePort } from "../../ports/runtime.ts";

type Modules = {
  readonly runtime: Pick<RuntimePort, "startProfile" | "stopProfile" | "recordProfile">;
};

/**
 * A method that records for `seconds` and writes a new file below the home's debug folder.
 * @throws DebugError where it is recorded already, FileNameError, AdminError
 */
export function recordMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: { file: string, seconds: lenientInteger },
    result: json,
    private: true,
    async handle({ file, seconds }, { runtime }: Modules) {
      await runtime.recordProfile(kind, file, seconds);
      return null;
    },
  });
}

/** A method that begins to record. @throws as `recordMethod` */
export function startMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: { file: string },
    result: json,
    private: true,
    async handle({ file }, { runtime }: Modules) {
      await runtime.startProfile(kind, file);
      return null;
    },
  });
}

/** A method that ends the recording and writes its file. @throws DebugError where nothing is recorded */
export function stopMethod(name: string, kind: RecordingKind): Method<Modules> {
  return defineMethod({
    name,
    params: {},
    result: json,
    private: true,
    async handle(_params, { runtime }: Modules) {
      await runtime.stopProfile(kind);
      return null;
    },
  });
}
