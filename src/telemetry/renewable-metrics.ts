import type { Metrics } from "./metrics.ts";

/**
 * `metrics` that may be declared more than once, because the modules that declare them are replaced while the node runs: counts go on, and
 * a gauge is read from its newest owner.
 */
export function renewableMetrics(metrics: Metrics): Metrics {
  const declared = new Map<string, unknown>();
  const reads = new Map<string, () => number>();

  function once<T>(name: string, declare: () => T): T {
    if (!declared.has(name)) declared.set(name, declare());
    return declared.get(name) as T;
  }

  return {
    counter: (options) => once(options.name, () => metrics.counter(options)),
    gauge: (options) => once(options.name, () => metrics.gauge(options)),
    histogram: (options) => once(options.name, () => metrics.histogram(options)),
    gaugeOf(options, read) {
      reads.set(options.name, read);
      once(options.name, () => metrics.gaugeOf(options, () => reads.get(options.name)!()));
    },
    exposition: metrics.exposition,
  };
}
