/** Checks plain data from outside this program: files, messages of other processes, answers of other nodes. */

/** The fault of a value as a phrase that begins with its place; undefined if it has the shape. */
export type Shape = (value: unknown) => string | undefined;

export const nothing: Shape = (value) => (value === undefined ? undefined : "is there");
export const text: Shape = (value) => (typeof value === "string" ? undefined : "is not a text");
export const finite: Shape = (value) =>
  Number.isFinite(value) && (value as number) >= 0 ? undefined : "is not an amount";
export const bool: Shape = (value) => (typeof value === "boolean" ? undefined : "is not a boolean");
export const whole: Shape = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "is not a count";

export function textOf(charsMax: number): Shape {
  return (value) => text(value) ?? ((value as string).length > charsMax ? "is too long" : undefined);
}

export function matching(pattern: RegExp): Shape {
  return (value) => text(value) ?? (pattern.test(value as string) ? undefined : "has another form");
}

export function bytesOf(bytesMax: number): Shape {
  return (value) => {
    if (!(value instanceof Uint8Array)) return "is not bytes";
    return value.byteLength > bytesMax ? "is too long" : undefined;
  };
}

export function oneOf(values: readonly unknown[]): Shape {
  return (value) => (values.includes(value) ? undefined : "is not one of the allowed values");
}

export function optional(shape: Shape): Shape {
  return (value) => (value === undefined ? undefined : shape(value));
}

export function listOf(shape: Shape, countMax = Number.POSITIVE_INFINITY): Shape {
  return (value) => {
    if (!Array.isArray(value)) return "is not a list";
    if (value.length > countMax) return "is too long";
    for (const [index, each] of value.entries()) {
      const fault = shape(each);
      if (fault !== undefined) return `[${index}] ${fault}`;
    }
    return undefined;
  };
}

/** Members of any name. */
export function recordOf(shape: Shape): Shape {
  return (value) => {
    if (!isPlainObject(value)) return "is not an object";
    for (const [name, each] of Object.entries(value)) {
      const fault = shape(each);
      if (fault !== undefined) return `.${name} ${fault}`;
    }
    return undefined;
  };
}

/** These members and any others; members that may be undefined may be absent. */
export function members(shapes: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(shapes);
  return (value) => {
    if (!isPlainObject(value)) return "is not an object";
    for (const [name, shape] of entries) {
      const fault = shape(value[name]);
      if (fault !== undefined) return `.${name} ${fault}`;
    }
    return undefined;
  };
}

/** Exactly these members; members that may be undefined may be absent. */
export function object(shapes: Readonly<Record<string, Shape>>): Shape {
  const known = members(shapes);
  return (value) => {
    const fault = known(value);
    if (fault !== undefined) return fault;
    for (const name of Object.keys(value as object)) if (!Object.hasOwn(shapes, name)) return `has a member ${name}`;
    return undefined;
  };
}

/** Minimum weight of a value, in addition to its text or bytes. */
const VALUE_WEIGHT = 8;

/**
 * Data of any form from another process, with a total weight of at most `weightMax`: characters and bytes, and 8 for each value.
 * @param depthMax nesting of lists and objects
 */
export function plain(weightMax: number, depthMax: number): Shape {
  return (value) => {
    let left = weightMax;
    const walk = (each: unknown, depth: number): string | undefined => {
      left -= VALUE_WEIGHT;
      if (typeof each === "string") left -= each.length;
      else if (each instanceof Uint8Array) left -= each.byteLength;
      if (left < 0) return "is too large";
      if (typeof each !== "object" || each === null || each instanceof Uint8Array) return undefined;
      if (depth === 0) return "is too deep";
      if (Array.isArray(each) || each instanceof Set || each instanceof Map) {
        for (const item of each) {
          const fault = walk(item, depth - 1);
          if (fault !== undefined) return fault;
        }
        return undefined;
      }
      if (!isPlainObject(each)) return "has an object of a class";
      for (const name of Object.keys(each)) {
        left -= name.length;
        const fault = walk(each[name], depth - 1);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
    return walk(value, depthMax);
  };
}

/** A JSON object, not an array. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A plain object: neither an array nor a structured clone of a map, set or bytes. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
