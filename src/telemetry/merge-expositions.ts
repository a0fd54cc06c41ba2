/**
 * Several registries in Prometheus' text form as one: samples of one name and labels are added up. That is right for what is counted and
 * for gauges of things that each process has some of.
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
