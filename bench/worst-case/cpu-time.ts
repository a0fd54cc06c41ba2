const BATCH_MS = 20;
const BATCHES = 8;

/** CPU time of this process so far, which other processes do not add to. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds of the second of two calls: the first may compile. */
export function onceMs(call: () => unknown): number {
  call();
  const start = cpuMs();
  call();
  return cpuMs() - start;
}

/** CPU milliseconds of one call: the least of several batches, which a busy machine disturbs least. */
export function leastMs(call: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  let size = 1;
  for (let batch = 0; batch < BATCHES; ) {
    const start = cpuMs();
    for (let i = 0; i < size; i++) call();
    const spent = cpuMs() - start;
    if (spent < BATCH_MS) {
      size *= 2;
      continue;
    }
    least = Math.min(least, spent / size);
    batch++;
  }
  return least;
}
