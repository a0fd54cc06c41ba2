import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { GcStats, RuntimePort } from "../../rpc/ports/runtime.ts";

/** Bun has a function instead of V8's flags. Node.js has `gc` if started with `--expose-gc`. */
const { Bun, gc: exposed } = globalThis as {
  readonly Bun?: { gc(isSynchronous: boolean): void };
  readonly gc?: () => void;
};

/** A thread that removes the flag while another makes its context costs that one an attempt. */
const ATTEMPTS_MAX = 1_000;

/**
 * Returns a function that collects all garbage of this thread at once. V8 exposes it to new contexts only, and the flag is process-wide: if it
 * stayed on, V8 would reject the code cache that this process stores (src/package/bundle/load-bundle.ts), and threads that start together take it
 * from each other.
 */
export function garbageCollector(): () => void {
  if (Bun !== undefined) return () => Bun.gc(true);
  if (exposed !== undefined) return exposed;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    setFlagsFromString("--expose-gc");
    try {
      const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
      if (collect !== undefined) return collect;
    } finally {
      setFlagsFromString("--no-expose-gc");
    }
  }
  throw new Error("V8 does not expose its garbage collector");
}

/** Pauses stored, as many as in Go's runtime. */
const PAUSES_MAX = 256;

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
type Pause = { readonly nanoseconds: number; readonly endMs: number };

/** Counts garbage collections. A full mark-compact is a collection; scavenges of the young generation are counted separately. */
class GcMonitor {
  readonly #observer: PerformanceObserver;
  #pauses: Pause[] = [];
  #count = 0;
  #pauseTotal = 0;
  #scavenges = 0;
  #forced = 0;

  /** @param onCollected called after collections of any kind */
  constructor(onCollected: () => void) {
    this.#observer = new PerformanceObserver((list) => {
      // Node's types lack `detail`, which replaced its other members.
      for (const entry of list.getEntries() as GcEntry[]) {
        const { kind } = entry.detail;
        const nanoseconds = Math.round(entry.duration * 1e6);
        if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) {
          const endMs = performance.timeOrigin + entry.startTime + entry.duration;
          this.#add({ nanoseconds, endMs });
        } else if (kind === constants.NODE_PERFORMANCE_GC_MINOR) this.#scavenges++;
      }
      onCollected();
    });
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  get scavenges(): number {
    return this.#scavenges;
  }

  get forced(): number {
    return this.#forced;
  }

  /** Marks the next collection as forced. */
  noteForced(): void {
    this.#forced++;
  }

  stats(): GcStats {
    const newestFirst = this.#pauses.toReversed();
    return {
      lastGcMs: newestFirst[0]?.endMs,
      count: this.#count,
      pauseTotal: this.#pauseTotal,
      pauses: newestFirst.map(({ nanoseconds }) => nanoseconds),
      pauseEndsMs: newestFirst.map(({ endMs }) => endMs),
    };
  }

  close(): void {
    this.#observer.disconnect();
  }

  #add(pause: Pause): void {
    this.#count++;
    this.#pauseTotal += pause.nanoseconds;
    this.#pauses.push(pause);
    if (this.#pauses.length > PAUSES_MAX) this.#pauses = this.#pauses.slice(-PAUSES_MAX);
  }
}

const RING = 256;
const SIZE_CLASSES = 61;

/**
 * The fields of Go's `runtime.MemStats`, so that go-ethereum's client decodes them. Fields that V8 does not count are 0; `v8` and `process` hold
 * Node's measurements.
 */
function memoryStats(gc: GcMonitor, allocatedBytes: number): Readonly<Record<string, unknown>> {
  const heap = getHeapStatistics();
  const memory = process.memoryUsage();
  const { count, lastGcMs, pauseTotal, pauses, pauseEndsMs } = gc.stats();
  const idle = heap.total_heap_size - heap.used_heap_size;
  const uptimeNs = performance.now() * 1e6;
  return {
    Alloc: heap.used_heap_size,
    // Sampled at intervals, and at least the memory in use now.
    TotalAlloc: Math.max(allocatedBytes, heap.used_heap_size),
    Sys: memory.rss,
    Lookups: 0,
    Mallocs: 0,
    Frees: 0,
    HeapAlloc: heap.used_heap_size,
    HeapSys: heap.total_heap_size,
    HeapIdle: idle,
    HeapInuse: heap.used_heap_size,
    HeapReleased: Math.min(idle, Math.max(0, heap.total_heap_size - heap.total_physical_size)),
    HeapObjects: 0,
    StackInuse: 0,
    StackSys: 0,
    MSpanInuse: 0,
    MSpanSys: 0,
    MCacheInuse: 0,
    MCacheSys: 0,
    BuckHashSys: 0,
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
    EnableGC: true,
    DebugGC: false,
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

/** Go's default of GOGC: here it means V8's default pace. */
const DEFAULT_PERCENT = 100;
/** V8 cannot be told never to collect; at this growth it does so only near its limit. */
const NEVER_PERCENT = 10_000;
/** Minimum time between two collections forced by the memory limit: each takes about 50 ms. */
const LIMIT_PAUSE_MS = 1_000;

type GarbageCollection = Pick<
  RuntimePort,
  "memoryStats" | "gcStats" | "collectGarbage" | "setGcPercent" | "setMemoryLimit"
> & { close(): void };

/** Statistics and controls of V8's garbage collector, for this thread. */
export function createGarbageCollection(now: () => number = () => performance.now()): GarbageCollection {
  let percent = DEFAULT_PERCENT;
  let limit = Infinity;
  let limitedAt = -Infinity;
  /** Heap growth seen between collections: a lower bound of the allocated bytes. */
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
      // The flag means the same as GOGC and takes effect at the next collection; 0 is V8's default pace.
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
