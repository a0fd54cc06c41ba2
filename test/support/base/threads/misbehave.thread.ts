import type { Channel } from "../../../../src/base/threads/channel.ts";
import { serveThread } from "../../../../src/base/threads/serve-thread.ts";

/** Events that the thread received. */
const received: string[] = [];

/** A thread of a pool for tests. */
const behaviours = {
  echo: (value: unknown) => value,
  /** The word that both threads share, and when it is read. */
  word: (shared: Int32Array) => Atomics.load(shared, 0),
  add(shared: Int32Array) {
    Atomics.add(shared, 0, 1);
    Atomics.notify(shared, 0);
  },
  reject() {
    throw Object.assign(new Error("rejected"), { name: "Rejected" });
  },
  crash: () => process.exit(3),
  loop() {
    for (;;);
  },
  fill() {
    const rows: number[][] = [];
    for (;;) rows.push(Array.from({ length: 10_000 }, (_, i) => i));
  },
  ask: (question: string) => starter.call("answer", question),
  note(event: string) {
    received.push(event);
  },
  received: () => received,
};
export type Misbehaviours = typeof behaviours;

const starter: Channel<{ answer(question: string): string }> = serveThread<{
  answer(question: string): string;
}>(behaviours)!;
