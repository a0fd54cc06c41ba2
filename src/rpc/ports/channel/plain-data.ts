import { invariant } from "../../../errors.ts";

/**
 * `value` ready for a structured clone. A view of a small part of a buffer is copied, because a clone would take the whole buffer along.
 * @throws InvariantError for functions and instances of classes, which a clone would reject or turn into something else
 */
export function plainData(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    invariant(
      typeof value !== "function" && typeof value !== "symbol",
      "a port carries plain data",
    );
    return value;
  }
  if (value instanceof Uint8Array) {
    return 2 * value.byteLength < value.buffer.byteLength ? Uint8Array.from(value) : value;
  }
  if (Array.isArray(value)) return value.map(plainData);
  if (value instanceof Map) {
    return new Map(Array.from(value, ([key, entry]) => [plainData(key), plainData(entry)]));
  }
  if (value instanceof Set) return new Set(Array.from(value, plainData));
  const prototype: unknown = Object.getPrototypeOf(value);
  invariant(
    prototype === Object.prototype || prototype === null,
    `a port carries plain data, not ${value.constructor?.name}`,
  );
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = plainData((value as typeof copy)[key]);
  return copy;
}
