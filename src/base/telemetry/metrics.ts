import { InvariantError, invariant } from "../errors.ts";

type Labels = Readonly<Record<string, string>>;

type MetricOptions = {
  /** Snake case, ending in its unit: `rpc_request_duration_seconds`, `blocks_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
};

type CounterOptions = MetricOptions & {
  /** Known values of the only label: each starts at 0, so that Prometheus sees the first event as an increase. */
  readonly values?: readonly string[];
};

/** Only grows. */
export interface Counter {
  add(amount?: number, labels?: Labels): void;
}
interface Gauge {
  set(value: number, labels?: Labels): void;
}
/** Counts observations by size. */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** Declares and prints metrics; each module declares its own, beside the code that updates them. */
export interface Metrics {
  counter(options: CounterOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  /** A gauge whose value is computed on read. */
  gaugeOf(options: Omit<MetricOptions, "labels">, read: () => number): void;
  /** @param options.buckets upper bounds, ascending; +Inf is added */
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** Prometheus text exposition, format 0.0.4. */
  exposition(): string;
}

/** Declares gauges without labels, computed on read. @param gauges by name: the help text, and the function that reads the value */
export function declareGauges(
  metrics: Pick<Metrics, "gaugeOf">,
  gauges: Readonly<Record<string, readonly [help: string, read: () => number]>>,
): void {
  for (const [name, [help, read]] of Object.entries(gauges)) metrics.gaugeOf({ name, help }, read);
}

/**
 * Maximum label combinations of one metric. Labels come from tables (method names, rejection codes), so only a caller's text as a label could
 * reach it; further combinations then share one series instead of filling memory.
 */
const SERIES_MAX = 1000;
const OVERFLOW = "other";

/** Buckets for durations in seconds: from a cached answer to a trace. */
export const SECONDS_BUCKETS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** An empty registry; metric names get the prefix `prefix_`. */
export function createMetrics(prefix = "evmint"): Metrics {
  const metrics = new Map<string, { help: string; type: string; lines: () => string[] }>();

  function register(options: MetricOptions, type: string, lines: (name: string) => string[]): void {
    const name = `${prefix}_${options.name}`;
    invariant(/^[a-z][a-z0-9_]*$/.test(name), `metric name "${name}" is not snake case`);
    invariant(!metrics.has(name), `metric "${name}" is declared twice`);
    metrics.set(name, { help: options.help, type, lines: () => lines(name) });
  }

  return {
    counter(options) {
      const series = createSeries(options, () => ({ value: 0 }));
      const only = options.labels === undefined ? series.of({}) : undefined;
      const [label = ""] = options.labels ?? [];
      for (const value of options.values ?? []) series.of({ [label]: value });
      register(options, "counter", (name) => series.all().map(([labels, { value }]) => sample(name, labels, value)));
      return {
        add(amount = 1, labels = {}) {
          if (!(amount >= 0)) throw new InvariantError(`counter "${options.name}" cannot fall`);
          (only ?? series.of(labels)).value += amount;
        },
      };
    },
    gauge(options) {
      const series = createSeries(options, () => ({ value: 0 }));
      register(options, "gauge", (name) => series.all().map(([labels, { value }]) => sample(name, labels, value)));
      return {
        set(value, labels = {}) {
          series.of(labels).value = value;
        },
      };
    },
    gaugeOf(options, read) {
      register(options, "gauge", (name) => [sample(name, "", read())]);
    },
    histogram(options) {
      const { buckets } = options;
      const series = createSeries(options, () => ({
        counts: new Array<number>(buckets.length + 1).fill(0),
        sum: 0,
      }));
      register(options, "histogram", (name) =>
        series.all().flatMap(([labels, { counts, sum }]) => {
          let total = 0;
          const lines = counts.map((count, index) => {
            total += count;
            const bound = `le="${buckets[index] ?? "+Inf"}"`;
            return sample(`${name}_bucket`, labels ? `${labels},${bound}` : bound, total);
          });
          return [...lines, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, total)];
        }),
      );
      return {
        observe(value, labels = {}) {
          const entry = series.of(labels);
          let index = 0;
          while (index < buckets.length && !(value <= buckets[index]!)) index++;
          entry.counts[index]! += 1;
          entry.sum += value;
        },
      };
    },
    exposition() {
      const lines: string[] = [];
      for (const [name, { help, type, lines: samples }] of metrics) {
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples());
      }
      return `${lines.join("\n")}\n`;
    },
  };
}

/** The values of one metric by label text; a metric without labels has its value from the start. */
function createSeries<T>(options: MetricOptions, initial: () => T) {
  const names = options.labels ?? [];
  const series = new Map<string, T>();
  if (names.length === 0) series.set("", initial());

  function find(labels: string): T | undefined {
    const known = series.get(labels);
    if (known !== undefined || series.size >= SERIES_MAX) return known;
    const entry = initial();
    series.set(labels, entry);
    return entry;
  }

  /** Values of a metric with one label, so that counting builds no text. */
  const byOnlyLabel = new Map<string, T>();

  function of(labels: Labels): T {
    const text = names.map((name) => `${name}="${escapeLabel(labels[name] ?? "")}"`).join(",");
    const entry = find(text);
    if (entry !== undefined) return entry;
    const overflow = names.map((name) => `${name}="${OVERFLOW}"`).join(",");
    const shared = series.get(overflow) ?? initial();
    series.set(overflow, shared);
    return shared;
  }

  return {
    of(labels: Labels): T {
      if (names.length !== 1) return of(labels);
      const value = labels[names[0]!] ?? "";
      const known = byOnlyLabel.get(value);
      if (known !== undefined) return known;
      const entry = of(labels);
      if (byOnlyLabel.size < SERIES_MAX) byOnlyLabel.set(value, entry);
      return entry;
    },
    all: () => [...series],
  };
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels ? `{${labels}}` : ""} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/**
 * Merges several registries in Prometheus' text form: adds up samples with equal name and labels. That is right for counters, and for gauges
 * whose objects are spread over processes.
 */
export function mergeExpositions(texts: readonly string[]): string {
  /** Comment lines and samples of a metric, in the order of their first appearance. */
  const metrics = new Map<string, { comments: string[]; samples: Map<string, number> }>();
  for (const text of texts) {
    let current: { comments: string[]; samples: Map<string, number> } | undefined;
    let isNew = false;
    for (const line of text.split("\n")) {
      if (line === "") continue;
      if (line.startsWith("# HELP ")) {
        const name = line.split(" ", 3)[2]!;
        isNew = !metrics.has(name);
        current = metrics.get(name) ?? { comments: [], samples: new Map() };
        metrics.set(name, current);
      }
      if (line.startsWith("#")) {
        if (isNew) current?.comments.push(line);
        continue;
      }
      const end = line.lastIndexOf(" ");
      const key = line.slice(0, end);
      current?.samples.set(key, (current.samples.get(key) ?? 0) + Number(line.slice(end + 1)));
    }
  }
  const lines = Array.from(metrics.values(), ({ comments, samples }) => [
    ...comments,
    ...Array.from(samples, ([key, value]) => `${key} ${value}`),
  ]);
  return `${lines.flat().join("\n")}\n`;
}

/**
 * Wraps `metrics` for repeated declarations by modules that are replaced at run time: counters continue, and a gauge is read from its newest
 * owner.
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
