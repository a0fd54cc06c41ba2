/** `node:worker_threads`: a simulated node has its main thread; what pools of threads do is in `replacements/pool.ts`. */
export const isMainThread = true;
export const parentPort = null;
export const workerData = null;
export const threadId = 0;
export class Worker {
  constructor() {
    throw new Error("a simulated node starts no threads");
  }
}
export class MessageChannel extends Worker {}
export class MessagePort {}
export const receiveMessageOnPort = () => undefined;
export const markAsUntransferable = () => {};
