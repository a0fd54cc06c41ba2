import { andThen } from "../../../base/threads/maybe-promise.ts";
import { optional, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/**
 * `debug_stacks`: the stacks of the process that match a filter such as `rpc && !server`; empty if the filter cannot be parsed, as in geth.
 */
export const stacks = defineMethod({
  name: "debug_stacks",
  params: { filter: optional(string) },
  example: ["rpc && !server"],
  result: string,
  handle: ({ filter }, { runtime }) =>
    andThen(runtime.stacks(), (all) => {
      if (filter === undefined || filter === "") return all;
      const matches = parseStackFilter(filter);
      if (matches === undefined) return "";
      const chosen = all.split("\n\n").filter((stack) => stack !== "" && matches(stack));
      return chosen.map((stack) => `${stack}\n\n`).join("");
    }),
});

type Matches = (stack: string) => boolean;

const TOKEN = /\s*(&&|\|\||[!()]|[\w:/.-]+)/y;

/**
 * Reads a filter of stacks: words, each of which means that the stack contains it, joined by `&&`, `||`, `!` and parentheses.
 * undefined when `text` is not one.
 */
export function parseStackFilter(text: string): Matches | undefined {
  const tokens: string[] = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const found = TOKEN.exec(trimmed);
    if (found === null) return undefined;
    tokens.push(found[1]!);
  }
  let at = 0;

  function anyOf(depth: number): Matches | undefined {
    let left = allOf(depth);
    while (left && tokens[at] === "||") {
      at++;
      const [a, b] = [left, allOf(depth)];
      left = b && ((stack) => a(stack) || b(stack));
    }
    return left;
  }

  function allOf(depth: number): Matches | undefined {
    let left = single(depth);
    while (left && tokens[at] === "&&") {
      at++;
      const [a, b] = [left, single(depth)];
      left = b && ((stack) => a(stack) && b(stack));
    }
    return left;
  }

  function single(depth: number): Matches | undefined {
    // A caller's filter must not exhaust the stack.
    if (depth > DEPTH_MAX) return undefined;
    const token = tokens[at++];
    if (token === "!") {
      const negated = single(depth + 1);
      return negated && ((stack) => !negated(stack));
    }
    if (token === "(") {
      const inner = anyOf(depth + 1);
      return tokens[at++] === ")" ? inner : undefined;
    }
    if (token === undefined || /^\W+$/.test(token)) return undefined;
    return (stack) => stack.includes(token);
  }

  const matches = anyOf(0);
  return at === tokens.length ? matches : undefined;
}

const DEPTH_MAX = 100;
