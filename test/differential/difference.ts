export type Answer = { readonly result?: unknown; readonly error?: unknown };

/** Path of the first place where two JSON values differ; undefined when they are equal. */
export function firstDifference(a: unknown, b: unknown, path = ""): string | undefined {
  if (a === b) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return path || "/";
  if (Array.isArray(a) !== Array.isArray(b)) return path || "/";
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(left[key], right[key], `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `value` with every member of every object replaced by what `change` gives for it; undefined removes the member. */
export function mapMembers(value: unknown, change: (name: string, member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapMembers(item, change));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, change(name, member)]);
  return Object.fromEntries(
    members.filter(([, member]) => member !== undefined).map(([name, member]) => [name, mapMembers(member, change)]),
  );
}
