import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { Channel } from "../../base/threads/channel.ts";
import { threadData } from "../../base/threads/native-calls.ts";
import { serveThread } from "../../base/threads/serve-thread.ts";
import { lowerThreadPriority } from "../../base/threads/thread-priority.ts";
import { RELEASE_MS } from "../../chain/store/follow/store-follower.ts";
import { type ModuleStarter, RequestedModules } from "../compiled-contracts/requested-modules.ts";
import { garbageCollector } from "../profiling/garbage-collection.ts";
import {
  type ExecutionOutcome,
  type ExecutionRequest,
  type ExecutionThreadData,
  FollowingExecution,
} from "./following-execution.ts";

/**
 * A sixth of the scheduling weight of threads that serve connections or make blocks, so those run first when they wake up; the compiler's thread
 * has less. An idle processor runs this thread at full speed.
 */
const NICE = 8;

/** The thread's functions for its starter. */
export type ExecutionHandlers = {
  execute(request: ExecutionRequest): ExecutionOutcome;
  /** The compiling thread dropped a compiled contract. */
  dropped(key: string): void;
};

lowerThreadPriority(NICE);
const modules = new RequestedModules((request) => starter.call("compile", request));
const execution = new FollowingExecution(threadData<ExecutionThreadData>(), {
  compiler: modules,
  collectGarbage: garbageCollector(),
});

const starter: Channel<ModuleStarter> = serveThread<ModuleStarter>({
  execute: (request: ExecutionRequest) => execution.execute(request),
  dropped: (key: string) => modules.drop(key),
})!;
fatalTimers.every(RELEASE_MS, "release of removed files", () => execution.releaseRemoved());
