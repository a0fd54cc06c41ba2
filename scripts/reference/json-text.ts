/** Letters of a line of JSON that is not split. */
const WIDTH = 110;

/** JSON for readers: a value on one line where it fits, else a member a line. */
export function jsonText(value: unknown, indent = ""): string {
  const line = onOneLine(value);
  if (indent.length + line.length <= WIDTH || typeof value !== "object" || value === null) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((each) => inner + jsonText(each, inner)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value).map(
    ([name, each]) => `${inner}${JSON.stringify(name)}: ${jsonText(each, inner)}`,
  );
  return `{\n${members.join(",\n")}\n${indent}}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${onOneLine(each)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
