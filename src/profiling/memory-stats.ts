import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import type { GcMonitor } from "./gc-monitor.ts";

const RING = 256;
const SIZE_CLASSES = 61;

/**
 * The fields of Go's `runtime.MemStats`, so that go-ethereum's client decodes them. What V8 does not count is 0; `v8` and `process` hold
 * what Node measures.
 */
export function memoryStats(
  gc: GcMonitor,
  allocatedBytes: number,
): Readonly<Record<string, unknown>> {
  const heap = getHeapStatistics();
  const memory = process.memoryUsage();
  const { count, lastGcMs, pauseTotal, pauses, pauseEndsMs } = gc.stats();
  const idle = heap.total_heap_size - heap.used_heap_size;
  const uptimeNs = performance.now() * 1e6;
  return {
    Alloc: heap.used_heap_size,
    TotalAlloc: allocatedBytes,
    Sys: memory.rss,
    ...{ Lookups: 0, Mallocs: 0, Frees: 0 },
    HeapAlloc: heap.used_heap_size,
    HeapSys: heap.total_heap_size,
    HeapIdle: idle,
    HeapInuse: heap.used_heap_size,
    HeapReleased: Math.min(idle, Math.max(0, heap.total_heap_size - heap.total_physical_size)),
    HeapObjects: 0,
    ...{ StackInuse: 0, StackSys: 0, MSpanInuse: 0, MSpanSys: 0 },
    ...{ MCacheInuse: 0, MCacheSys: 0, BuckHashSys: 0 },
    GCSys: heap.malloced_memory,
    OtherSys: memory.external,
    NextGC: heap.heap_size_limit,
    LastGC: Math.round((lastGcMs ?? 0) * 1e6),
    PauseTotalNs: pauseTotal,
    PauseNs: ring(pauses, count),
    PauseEnd: ring(
      pauseEndsMs.map((each) => Math.round(each * 1e6)),
      count,
    ),
    NumGC: count,
    NumForcedGC: gc.forced,
    GCCPUFraction: uptimeNs === 0 ? 0 : pauseTotal / uptimeNs,
    ...{ EnableGC: true, DebugGC: false },
    BySize: Array.from({ length: SIZE_CLASSES }, () => ({ Size: 0, Mallocs: 0, Frees: 0 })),
    v8: { ...heap, scavenges: gc.scavenges, spaces: getHeapSpaceStatistics() },
    process: { ...memory, cpuUsage: process.cpuUsage() },
  };
}

/** Go's ring: the newest of `count` values is at (count + 255) mod 256. */
function ring(newestFirst: readonly number[], count: number): readonly number[] {
  const values = new Array<number>(RING).fill(0);
  for (const [age, value] of newestFirst.entries()) {
    values[(count + RING - 1 - age) % RING] = value;
  }
  return values;
}
