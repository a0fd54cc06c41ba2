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
 * A sixth of the weight of a thread that serves connections or makes blocks, which so comes first when it wakes up; the compiler's comes after both. A processor
 * that no other needs is this thread's own.
 */
const NICE = 8;

/** What the thread does for its starter. */
export type ExecutionHandlers = {
  execute(request: ExecutionRequest): ExecutionOutcome;
  /** A compiled contract is no longer in memory where it was compiled. */
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
