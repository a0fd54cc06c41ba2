import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { Channel, type ChannelMessage } from "../../base/threads/channel.ts";
import { Pool } from "../../base/threads/pool.ts";
import { lowerProcessPriority } from "../../base/threads/thread-priority.ts";
import type { Solidity } from "./compile-solidity.thread.ts";
import { assertCompilerMemory } from "./compiler-limits.ts";

/**
 * The program of one run of the compiler. The compiler has a thread, so that this one can look at the memory of the process, and ends it
 * when the node is gone. V8's limit of a heap does not count memory of WebAssembly, which is most of it.
 */

const HEAP_MEGABYTES_MAX = 512;
const LOOK_MS = 20;
const NICE = 10;

export type CompilerProcessHandlers = {
  readonly version: (input: undefined) => Promise<string>;
  readonly compile: (input: object) => Promise<string>;
};

lowerProcessPriority(NICE);
const threads = new Pool<Solidity>(
  { entry: "node/services/compile-solidity.thread", count: 1, waitingMax: 0, heapMegabytesMax: HEAP_MEGABYTES_MAX },
  fatalTimers,
);
const channel = new Channel((message) => process.send?.(message));

/** Fails as soon as the process exceeds its memory limit. */
function memoryExceeded(): Promise<never> {
  return new Promise((_resolve, reject) => {
    fatalTimers.every(LOOK_MS, "compiler's memory", () => {
      try {
        assertCompilerMemory();
      } catch (error) {
        reject(error as Error);
      }
    });
  });
}

const handlers: CompilerProcessHandlers = {
  version: () => threads.call("version", undefined, { timeoutMs: 0 }),
  compile: (input) => Promise.race([threads.call("compile", input, { timeoutMs: 0 }), memoryExceeded()]),
};
channel.serve(handlers);
// Node.js would open a debugger that every user of the machine can reach.
process.on("SIGUSR1", () => {});
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ChannelMessage) => channel.receive(message));
// Signals that it is ready for its source.
process.send?.("ready");
