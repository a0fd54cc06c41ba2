/**
 * The stacks of this thread and what it waits for, in the manner of Go's goroutines: one paragraph each. JavaScript has one stack; pending
 * work has none, and is counted by what it waits for.
 */
export function stacks(): string {
  const { stack = "" } = new Error();
  const running = stack.split("\n").slice(1).join("\n");
  const waiting = new Map<string, number>();
  for (const resource of process.getActiveResourcesInfo()) {
    waiting.set(resource, (waiting.get(resource) ?? 0) + 1);
  }
  const paragraphs = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `main [running]:\n${running}`,
    ...paragraphs.map(([resource, count]) => `${resource} [waiting]: ${count}`),
    "",
  ].join("\n\n");
}
