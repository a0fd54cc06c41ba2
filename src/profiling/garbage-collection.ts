import { getHeapStatistics, setFlagsFromString } from "node:v8";
import type { RuntimePort } from "../rpc/ports/runtime.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { GcMonitor } from "./gc-monitor.ts";
import { memoryStats } from "./memory-stats.ts";

/** Go's default of GOGC: here it means V8's own pace. */
const DEFAULT_PERCENT = 100;
/** V8 cannot be told never to collect; at this growth it does so only near its limit. */
const NEVER_PERCENT = 10_000;
/** Least time between two collections that the memory limit forces: each takes some 50 ms. */
const LIMIT_PAUSE_MS = 1_000;

export type GarbageCollection = Pick<
  RuntimePort,
  "memoryStats" | "gcStats" | "collectGarbage" | "setGcPercent" | "setMemoryLimit"
> & { close(): void };

/** Statistics and controls of V8's garbage collector, for this thread. */
export function createGarbageCollection(
  now: () => number = () => performance.now(),
): GarbageCollection {
  let percent = DEFAULT_PERCENT;
  let limit = Infinity;
  let limitedAt = -Infinity;
  /** Heap growth seen between collections: no less was allocated. */
  let allocated = getHeapStatistics().used_heap_size;
  let usedBefore = allocated;
  let collect: (() => void) | undefined;

  const gc = new GcMonitor(() => {
    noteGrowth();
    const isOver = getHeapStatistics().used_heap_size > limit;
    if (!isOver || now() - limitedAt < LIMIT_PAUSE_MS) return;
    limitedAt = now();
    force();
  });

  function noteGrowth(): void {
    const used = getHeapStatistics().used_heap_size;
    allocated += Math.max(0, used - usedBefore);
    usedBefore = used;
  }

  function force(): void {
    collect ??= garbageCollector();
    gc.noteForced();
    collect();
  }

  return {
    memoryStats() {
      noteGrowth();
      return memoryStats(gc, allocated);
    },
    gcStats: () => gc.stats(),
    collectGarbage: force,
    setGcPercent({ percent: next }) {
      const before = percent;
      percent = next;
      const growth = next < 0 ? NEVER_PERCENT : next === DEFAULT_PERCENT ? 0 : Math.max(1, next);
      // The flag has the meaning of GOGC and takes effect at the next collection; 0 is V8's own pace.
      setFlagsFromString(`--heap-growing-percent=${growth}`);
      return before;
    },
    setMemoryLimit({ bytes }) {
      const before = limit;
      if (bytes !== undefined) limit = bytes;
      return before;
    },
    close: () => gc.close(),
  };
}
