/**
 * `value` for comparing: bytes as hex, since views and copies are the same to a reader, and without
 * fields that are undefined.
 */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (value instanceof Map) return new Map(Array.from(value, ([k, v]) => [k, plain(v)]));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([key, field]) => [key, plain(field)]));
}
