import { InvalidGenesisError, type JsonObject, parseJsonKeepingIntegers } from "./genesis-json.ts";

const ALLOC = /"alloc"\s*:\s*\{/;
/** One account, and the comma or the end of `alloc` after it. Its object may hold objects, such as storage, but those none. Linear: no two repetitions take the same text. */
const ACCOUNT = /\s*"([^"\\{}]*)"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})\s*([,}])/y;
const BALANCE_ALONE = /^\{\s*"balance"\s*:\s*"([^"\\]*)"\s*\}$/;

/**
 * Takes the accounts out of the text of a genesis file one by one: parsed as a whole, a million of them take more memory than anything
 * that is made of them later.
 * @param visit may throw InvalidGenesisError
 * @returns the file with an empty `alloc`; undefined where the text is not plainly that of a valid genesis file, and has to be parsed as a
 * whole to say what is wrong
 */
export function takeAccounts(
  text: string,
  visit: (key: string, account: unknown) => void,
): JsonObject | undefined {
  const start = ALLOC.exec(text);
  if (start === null) return undefined;
  const first = start.index + start[0].length;
  try {
    const end = visitAccounts(text, first, visit);
    if (end === undefined || text.includes('"alloc"', end)) return undefined;
    const rest = parseJsonKeepingIntegers(`${text.slice(0, first)}}${text.slice(end)}`);
    const { alloc } = rest as { readonly alloc?: object };
    // Otherwise it was the `alloc` of something else.
    const isTaken = alloc !== undefined && Object.keys(alloc).length === 0;
    return isTaken ? (rest as JsonObject) : undefined;
  } catch (error) {
    if (error instanceof InvalidGenesisError) return undefined;
    throw error;
  }
}

/** Position after the end of `alloc`; undefined where something else than accounts is in it. */
function visitAccounts(
  text: string,
  first: number,
  visit: (key: string, account: unknown) => void,
): number | undefined {
  const pattern = new RegExp(ACCOUNT);
  pattern.lastIndex = first;
  for (;;) {
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const account = match[2]!;
    const balance = BALANCE_ALONE.exec(account)?.[1];
    visit(match[1]!, balance === undefined ? parseJsonKeepingIntegers(account) : { balance });
    if (match[3] === "}") return pattern.lastIndex;
  }
}
