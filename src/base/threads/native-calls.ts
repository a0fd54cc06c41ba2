import { setImmediate } from "node:timers/promises";
import { workerData } from "node:worker_threads";

/**
 * Shared between a thread and the one that started it. Node aborts the whole process when a thread is ended while it is inside a native
 * addon: the addon's next call of Node-API fails, and its error cannot be thrown in a thread that ends.
 */
export type NativeCallGate = Int32Array;

/** Index in a gate: 1 while the thread is inside an addon. Only the thread writes it. */
const INSIDE = 0;
/** Index in a gate: 1 once the thread must not enter an addon any more. Only its starter writes it. */
const CLOSED = 1;

export function createNativeCallGate(): NativeCallGate {
  return new Int32Array(new SharedArrayBuffer(8));
}

export type ThreadStart = { readonly nativeCalls: NativeCallGate; readonly data: unknown };

const start = workerData as Partial<ThreadStart> | null | undefined;

/** undefined in the main thread, and in a thread of the program that embeds the node: that program ends it. */
const gate = start?.nativeCalls instanceof Int32Array ? start.nativeCalls : undefined;

export function threadData<T>(): T {
  return start?.data as T;
}

/** The result of `call`, which enters a native addon; it may nest. In a thread that is about to end it never returns. */
export function nativeCall<T>(call: () => T): T {
  if (gate === undefined || Atomics.load(gate, INSIDE) === 1) return call();
  enterNativeCall(gate);
  try {
    return call();
  } finally {
    Atomics.store(gate, INSIDE, 0);
  }
}

/** Waits until the thread is outside of addons, which it does not enter again, or for `msMax`. Most calls of one take microseconds: it looks in every turn. */
export async function closeNativeCalls(gate: NativeCallGate, msMax: number): Promise<void> {
  Atomics.store(gate, CLOSED, 1);
  const end = performance.now() + msMax;
  while (Atomics.load(gate, INSIDE) === 1 && performance.now() < end) {
    await setImmediate();
  }
}

/** Each side writes its own word before it reads the other's, so one of them sees the other. */
function enterNativeCall(gate: NativeCallGate): void {
  Atomics.store(gate, INSIDE, 1);
  if (Atomics.load(gate, CLOSED) === 0) return;
  Atomics.store(gate, INSIDE, 0);
  // Until the thread is ended, which interrupts this.
  Atomics.wait(gate, CLOSED, 1);
}
