import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import type { GcStats } from "../rpc/ports/runtime.ts";

/** Pauses kept, as Go's runtime does. */
const PAUSES_MAX = 256;

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
type Pause = { readonly nanoseconds: number; readonly endMs: number };

/** Counts garbage collections. A full mark-compact is a collection; scavenges of the young generation are counted apart. */
export class GcMonitor {
  readonly #observer: PerformanceObserver;
  #pauses: Pause[] = [];
  #count = 0;
  #pauseTotal = 0;
  #scavenges = 0;
  #forced = 0;

  /** @param onCollected called after collections of any kind */
  constructor(onCollected: () => void) {
    this.#observer = new PerformanceObserver((list) => {
      // The types of Node do not have `detail`, which replaced its other members.
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

  /** The next collection was asked for. */
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
