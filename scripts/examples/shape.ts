/** Letters of a text that are shown; a hash has 66, and the raw bytes of a transaction are hardly read. */
const TEXT_MAX = 180;
const TEXT_SHOWN = 64;
/** Members of a list, and of an object whose names are data, that are shown. */
const LIST_SHOWN = 2;
const MEMBERS_MAX = 32;
const MEMBERS_SHOWN = 24;

/** Stands for what is left out. */
export const ELLIPSIS = "…";

/** `value` with long texts and lists cut, each at an ellipsis. */
export function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > TEXT_MAX ? `${value.slice(0, TEXT_SHOWN)}${ELLIPSIS}` : value;
  }
  if (Array.isArray(value)) {
    const isLong = value.length > LIST_SHOWN + 1;
    const shown = (isLong ? value.slice(0, LIST_SHOWN) : value).map(shortened);
    return isLong ? [...shown, ELLIPSIS] : shown;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const isLong = entries.length > MEMBERS_MAX;
  const shown = (isLong ? entries.slice(0, MEMBERS_SHOWN) : entries).map(([name, each]) => [name, shortened(each)]);
  return Object.fromEntries(isLong ? [...shown, [ELLIPSIS, ELLIPSIS]] : shown);
}

/** Names of members that are addresses or hashes: an object with them is a map. */
const IS_KEY = /^(?:0x)?[0-9a-fA-F]{40,}$/;

/** Names and types of `value`: objects with their members in order, lists and maps with the shapes that occur in them. */
export function shapeOf(value: unknown): unknown {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return shapesIn(value);
  if (typeof value !== "object") return typeof value;
  if (value === null) return null;
  const entries = Object.entries(value).filter(([name]) => name !== ELLIPSIS);
  const named = entries.filter(([name]) => !IS_KEY.test(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const keyed = entries.filter(([name]) => IS_KEY.test(name)).map(([, each]) => each);
  return {
    ...Object.fromEntries(named.map(([name, each]) => [name, shapeOf(each)])),
    ...(keyed.length > 0 && { "*": shapesIn(keyed) }),
  };
}

function shapesIn(values: readonly unknown[]): readonly unknown[] {
  const shapes = values.filter((each) => each !== ELLIPSIS).map((each) => JSON.stringify(shapeOf(each)));
  return [...new Set(shapes)].sort().map((each) => JSON.parse(each));
}
