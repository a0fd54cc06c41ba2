/** Reporter of `node:test`: one line of JSON for each test and suite that ended. */
export default async function* reporter(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, nesting, details, skip, todo } = data;
    yield `${JSON.stringify({
      name,
      nesting,
      isSuite: details.type === "suite",
      isPassed: type === "test:pass",
      isSkipped: skip !== undefined && skip !== false,
      isTodo: todo !== undefined && todo !== false,
      ms: details.duration_ms,
    })}\n`;
  }
}
