import type { MaybePromise } from "../../base/threads/maybe-promise.ts";

/** The process of the node: its memory, logs and profiles. Files are named as `CallerFiles` takes them. Plain data only. */
export interface RuntimePort {
  /** As `debug_memStats` shows it. */
  memoryStats(): MaybePromise<Readonly<Record<string, unknown>>>;
  /** As `debug_gcStats` shows it. */
  gcStats(): MaybePromise<GcStats>;
  collectGarbage(): MaybePromise<void>;
  /** Percent the heap may grow between two collections, as Go's GOGC; the value before. Below 0: as seldom as V8 can. */
  setGcPercent(input: { readonly percent: number }): MaybePromise<number>;
  /** Bytes of heap above which garbage is collected at once; the value before. undefined only reads it. Infinity: none. */
  setMemoryLimit(input: { readonly bytes: number | undefined }): MaybePromise<number>;
  /** Stacks and pending waits of the process, separated by blank lines. */
  stacks(): MaybePromise<string>;
  /** @param level geth's number: 0 silent to 5 trace. @throws DebugError where the log cannot be changed */
  setVerbosity(input: { readonly level: number }): MaybePromise<void>;
  /** @throws DebugError with geth's text */
  setFileLevels(input: { readonly rules: string }): MaybePromise<void>;
  /** @throws DebugError with geth's text */
  setBacktraceAt(input: { readonly position: string }): MaybePromise<void>;
  /** Begins to record. @throws DebugError with geth's text where it is recorded already, FileNameError, AdminError */
  startProfile(input: { readonly kind: RecordingKind; readonly file: string }): Promise<void>;
  /** Writes the file. @throws DebugError with geth's text where nothing is recorded */
  stopProfile(input: { readonly kind: RecordingKind }): Promise<void>;
  /** Records for a while and writes the file. @throws as `startProfile` */
  recordProfile(input: {
    readonly kind: RecordingKind;
    readonly file: string;
    readonly seconds: number;
  }): Promise<void>;
  /** Writes the heap. @throws FileNameError, AdminError */
  writeHeapProfile(input: { readonly file: string }): Promise<void>;
  /** Stalls of the event loop of at least `nanoseconds` are recorded from now on; 0 or less ends that. */
  setBlockProfileRate(input: { readonly nanoseconds: number }): Promise<void>;
  /** Writes the stalls recorded so far. @throws FileNameError, AdminError */
  writeBlockProfile(input: { readonly file: string }): Promise<void>;
  /** One of `fraction` waits for locks, queues and threads is recorded from now on; 0 or less ends that. */
  setMutexProfileFraction(input: { readonly fraction: number }): MaybePromise<void>;
  /** Writes the waits recorded so far, for pprof. @throws FileNameError, AdminError */
  writeMutexProfile(input: { readonly file: string }): Promise<void>;
}

/** `trace`: events of Node; `block`: stalls of the event loop; `mutex`: waits for locks, queues and threads. */
export type RecordingKind = "cpu" | "trace" | "block" | "mutex";

/** Times in nanoseconds, newest first. */
export type GcStats = {
  /** Unix milliseconds; undefined before the first collection */
  readonly lastGcMs: number | undefined;
  readonly count: number;
  readonly pauseTotal: number;
  readonly pauses: readonly number[];
  /** Unix milliseconds */
  readonly pauseEndsMs: readonly number[];
};
