/** Mutations of what a remote node answers, the same ones at every run. */

/** Numbers from 0 to below 1 from `seed` (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;
type Container = Record<string, unknown> | unknown[];

const DEEP = JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) as unknown;

/** Values that replace any other. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "0x",
  "0x0",
  "0x1",
  "0xzz",
  "latest",
  `0x${"f".repeat(64)}`,
  `0x${"f".repeat(65)}`,
  `0x1${"0".repeat(64)}`,
  `0x${"ab".repeat(20)}`,
  `0x${"ab".repeat(32)}`,
  `0x${"ab".repeat(33)}`,
  "0xabc",
  " 0x1",
  "0X1",
  "12",
  "1e3",
  "-0x1",
  `0x${"00".repeat(300_000)}`,
  "\u0000",
  "\ud800",
  "ß".repeat(1_000),
  [],
  {},
  [[]],
  [{}],
  { a: 1 },
  { toString: 1 },
  { length: 3 },
  ["0x1"],
  Array(1_000).fill("0x1"),
  DEEP,
  { __proto__: null, hash: "0x1", number: "0x1" },
  { result: "0x1" },
  { error: null },
];

/** Errors as nodes word them, and as none does. */
const ERRORS: readonly unknown[] = [
  { code: -32000, message: "missing trie node" },
  { code: -32601, message: "the method does not exist" },
  { code: -97, message: "credits used up" },
  { code: 3, message: "execution reverted", data: "0x01" },
  { code: 3, message: "execution reverted", data: { a: 1 } },
  { code: "x", message: 5 },
  { message: "no code" },
  "text",
  5,
  true,
  [],
  {},
];

/** `answers`, a correct batch, with one mutation; text where it is no JSON any more. */
export function poison(answers: readonly object[], random: Random): string {
  const batch = structuredClone(answers) as Record<string, unknown>[];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const item = pick(batch);
  const kind = random();
  if (kind < 0.55) mutateInside(item, random, pick);
  else if (kind < 0.65) item["result"] = pick(VALUES);
  else if (kind < 0.7) delete item["result"];
  else if (kind < 0.78) {
    if (random() < 0.7) delete item["result"];
    item["error"] = pick(ERRORS);
  } else if (kind < 0.84) item["id"] = pick([null, "0", 99, -1, 0.5, {}, [0], batch.length]);
  else if (kind < 0.88) batch.push(structuredClone(item));
  else if (kind < 0.91) batch.splice(batch.indexOf(item), 1);
  else if (kind < 0.94) batch[batch.indexOf(item)] = pick(VALUES) as Record<string, unknown>;
  else return textOf(batch, random, pick);
  return JSON.stringify(batch);
}

function textOf(batch: unknown, random: Random, pick: <T>(list: readonly T[]) => T): string {
  const text = JSON.stringify(batch);
  return pick([
    "",
    " ",
    "null",
    "{}",
    "[]",
    "[[]]",
    "5",
    '"text"',
    "<html>",
    text.slice(0, -1),
    `${text},`,
    text.slice(0, Math.floor(random() * text.length)),
    JSON.stringify({ result: "0x1" }),
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "SECRET" } }),
    JSON.stringify([{ jsonrpc: "2.0", id: null, error: { code: -32600, message: "SECRET" } }]),
    `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`,
    `[${"[],".repeat(2_000_000)}[]]`,
    `[{"id":0,"result":"0x${"00".repeat(40 << 20)}"}]`,
  ]);
}

/** Changes one value somewhere in the result: another one, a digit, a length, a member that is gone. */
function mutateInside(item: Record<string, unknown>, random: Random, pick: <T>(list: readonly T[]) => T): void {
  const places: [Container, string | number][] = [];
  const collect = (container: Container) => {
    for (const [key, value] of Object.entries(container)) {
      places.push([container, key]);
      if (typeof value === "object" && value !== null) collect(value as Container);
    }
  };
  const { result } = item;
  places.push([item, "result"]);
  if (typeof result === "object" && result !== null) collect(result as Container);
  const [container, key] = pick(places) as [Record<string, unknown>, string];
  const value = container[key];
  const kind = random();
  if (typeof value === "string" && kind < 0.5) container[key] = otherText(value, random);
  else if (Array.isArray(value) && kind < 0.5) {
    if (random() < 0.5) value.pop();
    else value.push(...(value.length > 0 ? [value[0]] : ["0x1"]));
  } else if (kind < 0.65) delete container[key];
  else container[key] = pick(VALUES);
}

/** A digit changed, removed or added. */
function otherText(text: string, random: Random): string {
  const at = 2 + Math.floor(random() * Math.max(1, text.length - 2));
  const digit = Math.floor(random() * 16).toString(16);
  const rest = random();
  if (rest < 0.6) return text.slice(0, at) + digit + text.slice(at + 1);
  return rest < 0.8 ? text.slice(0, at) + text.slice(at + 1) : text.slice(0, at) + digit + text.slice(at);
}
