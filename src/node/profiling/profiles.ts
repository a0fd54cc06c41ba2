import { createWriteStream } from "node:fs";
import { PassThrough, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getHeapSnapshot } from "node:v8";
import type { Timers } from "../../base/telemetry/timers.ts";
import { DebugError } from "../../rpc/methods/debug/database.ts";
import type { RecordingKind, RuntimePort } from "../../rpc/ports/runtime.ts";
import type { CallerFiles } from "../adapters/caller-files.ts";
import { mergeStalls, type Recording, recordCpu, recordStalls, recordTrace, stallCpuProfile } from "./recording.ts";
import { WaitRecorder } from "./wait-recorder.ts";

/** Interval at which the recording of stalls is folded, so that its samples do not pile up. */
const FOLD_MS = 5_000;
/** Maximum time of one recording: a profile keeps growing. */
const SECONDS_MAX = 600;
/** Shortest stall that `debug_blockProfile` records: all of them, like Go's rate 1. */
const EVERY_STALL_NS = 1;

const NAMES: Readonly<Record<RecordingKind, string>> = {
  cpu: "CPU profiling",
  trace: "trace",
  block: "block profiling",
  mutex: "mutex profiling",
};

type Profiles = Pick<
  RuntimePort,
  | "startProfile"
  | "stopProfile"
  | "recordProfile"
  | "writeHeapProfile"
  | "setBlockProfileRate"
  | "writeBlockProfile"
  | "setMutexProfileFraction"
  | "writeMutexProfile"
> & { close(): Promise<void> };

export function createProfiles(files: CallerFiles, timers: Pick<Timers, "every" | "sleep">): Profiles {
  const running = new Map<RecordingKind, Promise<{ recording: Recording; to: Writable; written: Promise<void> }>>();
  const stalls = new Map();
  const waits = new WaitRecorder();
  let stallNs = 0;
  let fold: { stop(): Promise<void> } | undefined;

  async function start(kind: RecordingKind, file: string): Promise<void> {
    if (running.has(kind)) throw new DebugError(`${NAMES[kind]} already in progress`);
    const { to, written } = openFile(files.forWriting(file));
    const starting = begin(kind).then((recording) => ({ recording, to, written }));
    running.set(kind, starting);
    try {
      await starting;
    } catch (error) {
      running.delete(kind);
      to.destroy();
      throw error;
    }
  }

  async function stop(kind: RecordingKind): Promise<void> {
    const started = running.get(kind);
    if (started === undefined) throw new DebugError(`${NAMES[kind]} not in progress`);
    running.delete(kind);
    const { recording, to, written } = await started;
    await recording.stop(to);
    to.end();
    await written;
  }

  async function begin(kind: RecordingKind): Promise<Recording> {
    if (kind === "cpu") return recordCpu();
    if (kind === "trace") return recordTrace();
    if (kind === "mutex") {
      const recorder = new WaitRecorder();
      recorder.setFraction(1);
      return {
        async stop(to) {
          recorder.setFraction(0);
          to.write(recorder.profile());
        },
      };
    }
    const recording = await recordStalls(EVERY_STALL_NS);
    return {
      async stop(to) {
        to.write(JSON.stringify(stallCpuProfile(await recording.stop())));
      },
    };
  }

  /** Records stalls repeatedly, a few seconds at a time. */
  async function beginFolding(): Promise<{ stop(): Promise<void> }> {
    let recording = await recordStalls(stallNs);
    let turning: Promise<void> = Promise.resolve();
    const turn = async () => {
      const ended = recording;
      recording = await recordStalls(stallNs);
      mergeStalls(stalls, await ended.stop());
    };
    const timer = timers.every(FOLD_MS, "record of stalls", () => {
      turning = turning.then(turn);
      // `stop` throws it; until then an unhandled rejection would end the process.
      turning.catch(() => {});
    });
    return {
      async stop() {
        timer.cancel();
        await turning;
        mergeStalls(stalls, await recording.stop());
      },
    };
  }

  return {
    startProfile: ({ kind, file }) => start(kind, file),
    stopProfile: ({ kind }) => stop(kind),
    async recordProfile({ kind, file, seconds }) {
      if (seconds > SECONDS_MAX) throw new DebugError(`at most ${SECONDS_MAX} seconds`);
      await start(kind, file);
      await timers.sleep(seconds * 1000, { keepsAlive: false });
      // Another call may have stopped it meanwhile.
      if (running.has(kind)) await stop(kind);
    },
    async writeHeapProfile({ file }) {
      const { to, written } = openFile(files.forWriting(file));
      await Promise.all([pipeline(getHeapSnapshot(), to), written]);
    },
    async setBlockProfileRate({ nanoseconds }) {
      const ended = fold;
      fold = undefined;
      await ended?.stop();
      stallNs = nanoseconds;
      if (nanoseconds > 0) fold = await beginFolding();
    },
    async writeBlockProfile({ file }) {
      const { to, written } = openFile(files.forWriting(file));
      // Includes the recording in progress.
      if (fold !== undefined) {
        await fold.stop();
        fold = await beginFolding();
      }
      to.end(JSON.stringify(stallCpuProfile(stalls)));
      await written;
    },
    setMutexProfileFraction({ fraction }) {
      waits.setFraction(Math.max(0, fraction));
    },
    async writeMutexProfile({ file }) {
      const { to, written } = openFile(files.forWriting(file));
      to.end(waits.profile());
      await written;
    },
    async close() {
      waits.setFraction(0);
      await fold?.stop();
      for (const kind of [...running.keys()]) await stop(kind);
    },
  };
}

/** Creates a file that only its owner can read. */
function openFile(path: string): { readonly to: Writable; readonly written: Promise<void> } {
  const to = new PassThrough();
  const written = pipeline(to, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  // `stop` awaits it.
  written.catch(() => {});
  return { to, written };
}
