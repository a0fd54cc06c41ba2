import { setImmediate } from "node:timers/promises";
import { workerData } from "node:worker_threads";

/**
 * Shared between a thread and its starter. Node aborts the whole process if a thread is ended inside a native addon: the addon's next Node-API
 * call fails, and its error cannot be thrown in an ending thread.
 */
export type NativeCallGate = Int32Array;

/** Index in a gate: 1 while the thread is inside an addon. Only the thread writes it. */
const INSIDE = 0;
/** Index in a gate: 1 once the thread must not enter an addon. Only its starter writes it. */
const CLOSED = 1;

export function createNativeCallGate(): NativeCallGate {
  return new Int32Array(new SharedArrayBuffer(8));
}

export type ThreadStart = { readonly nativeCalls: NativeCallGate; readonly data: unknown };

const start = workerData as Partial<ThreadStart> | null | undefined;

/** undefined in the main thread, and in threads of a program that embeds the node, which ends them itself. */
const gate = start?.nativeCalls instanceof Int32Array ? start.nativeCalls : undefined;

export function threadData<T>(): T {
  return start?.data as T;
}

/** The result of `call`, which enters a native addon; may nest. Never returns in a thread that is about to end. */
export function nativeCall<T>(call: () => T): T {
  if (gate === undefined || Atomics.load(gate, INSIDE) === 1) return call();
  enterNativeCall(gate);
  try {
    return call();
  } finally {
    Atomics.store(gate, INSIDE, 0);
  }
}

/**
 * Waits, at most `msMax`, until the thread is outside of addons, which it then cannot enter. Most addon calls take microseconds, so this polls
 * in every turn.
 */
export async function closeNativeCalls(gate: NativeCallGate, msMax: number): Promise<void> {
  Atomics.store(gate, CLOSED, 1);
  const end = performance.now() + msMax;
  while (Atomics.load(gate, INSIDE) === 1 && performance.now() < end) {
    await setImmediate();
  }
}

/** Each side writes its own word before it reads the other's, so at least one of them sees the other. */
function enterNativeCall(gate: NativeCallGate): void {
  Atomics.store(gate, INSIDE, 1);
  if (Atomics.load(gate, CLOSED) === 0) return;
  Atomics.store(gate, INSIDE, 0);
  // Blocks until the thread is terminated.
  Atomics.wait(gate, CLOSED, 1);
}
