import { parentPort } from "node:worker_threads";
import { type Channel, channelOver, type Handlers, type MessageEnd } from "./channel.ts";

/** Functions of the starter that a `Pool` thread calls, in addition to those of the pool's users. */
export type PoolHandlers = {
  /** The thread's module is loaded. */
  readonly ready: (input: undefined) => void;
};

/** Offers `here` to the `Pool` that started this thread; undefined on a main thread, if a test loaded the module. */
export function serveThread<There extends Handlers>(here: Handlers): Channel<There & PoolHandlers> | undefined {
  if (parentPort === null) return undefined;
  const channel = channelOver<There & PoolHandlers>(parentPort as MessageEnd, here);
  channel.emit("ready", undefined as never);
  return channel;
}
