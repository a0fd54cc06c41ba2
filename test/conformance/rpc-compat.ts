import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { startRecordedChain } from "../support/recorded-chain.ts";
import { HANG_MS } from "../support/until.ts";
import type { Suite } from "./suite.ts";

const USAGE = "usage: rpc-compat --tests DIR (--genesis FILE --chain FILE | --url URL) [--only SUBSTRING] [--verbose]";

/** One recorded exchange: what is sent, what has to come back. */
type Exchange = { readonly request: string; readonly response: unknown };

type Conversation = {
  readonly exchanges: readonly Exchange[];
  /** The recording holds for one client only: no more than the shape has to be equal. */
  readonly isShapeOnly: boolean;
};

/**
 * Recorded execution-apis conversations (`.io` files) against a node that has imported the chain they were recorded on. Answers must
 * be equal as JSON, except the `message` of an error.
 */
export const run: Suite = async (args) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tests: { type: "string" },
      genesis: { type: "string" },
      chain: { type: "string" },
      url: { type: "string" },
      only: { type: "string", default: "" },
      verbose: { type: "boolean", default: false },
    },
  });
  const { tests, genesis, chain, url } = values;
  if (!tests || !(url || (genesis && chain))) throw new Error(USAGE);
  const node = url
    ? { url, stop: async () => {} }
    : await startRecordedChain({ genesisFile: genesis!, chainFile: chain! });
  let passed = 0;
  const failures: string[] = [];
  try {
    for (const file of conversationFiles(tests)) {
      const name = relative(tests, file).replace(/\.io$/, "");
      if (!name.includes(values.only)) continue;
      const fault = await faultOf(parseConversation(readFileSync(file, "utf8")), node.url);
      if (fault === undefined) passed++;
      else {
        failures.push(`${name}: ${fault}`);
        console.log(values.verbose ? failures.at(-1) : name);
      }
    }
  } finally {
    await node.stop();
  }
  return { passed, failed: failures.length, failures };
};

function conversationFiles(dir: string): string[] {
  if (!statSync(dir).isDirectory()) return [dir];
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".io"))
    .sort()
    .map((file) => join(dir, file));
}

/** Lines `>> request` and `<< response`; a comment that begins with `speconly:` asks for the shape only. */
function parseConversation(text: string): Conversation {
  const exchanges: Exchange[] = [];
  let isShapeOnly = false;
  let request = "";
  for (const line of text.split("\n").map((raw) => raw.trim())) {
    if (/^\/\/\s*speconly:/.test(line)) isShapeOnly = true;
    else if (line.startsWith(">>")) request = line.slice(2).trim();
    else if (line.startsWith("<<")) {
      exchanges.push({ request, response: JSON.parse(line.slice(2)) });
    }
  }
  return { exchanges, isShapeOnly };
}

/** Where the node answers otherwise than recorded, or undefined. */
async function faultOf(conversation: Conversation, url: string): Promise<string | undefined> {
  for (const { request, response: expected } of conversation.exchanges) {
    let actual: unknown;
    try {
      actual = await send(url, request);
    } catch (error) {
      return String(error);
    }
    const fault =
      conversation.isShapeOnly && isObject(actual) && "result" in actual
        ? shapeFault(actual["result"], (expected as { result?: unknown }).result, "result")
        : difference(actual, expected, "");
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function send(url: string, request: string): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: request,
    signal: AbortSignal.timeout(HANG_MS),
  });
  return JSON.parse(await response.text());
}

function difference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) {
      return `${path}: ${actual.length} entries, want ${expected.length}`;
    }
    return firstOf(expected, (entry, i) => difference(actual[i], entry, `${path}[${i}]`));
  }
  if (isObject(actual) && isObject(expected)) {
    // The wording of errors is the client's own.
    const ignored = /(?:^|\.)error$/.test(path) ? "message" : undefined;
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return firstOf([...keys], (key) => {
      const at = `${path}.${key}`;
      if (!(key in actual)) return `${at}: missing, want ${show(expected[key])}`;
      if (!(key in expected)) return `${at}: not wanted, got ${show(actual[key])}`;
      return key === ignored ? undefined : difference(actual[key], expected[key], at);
    });
  }
  return Object.is(actual, expected) ? undefined : `${path}: got ${show(actual)}, want ${show(expected)}`;
}

/** Same JSON type, and for objects at least the recorded members. */
function shapeFault(actual: unknown, expected: unknown, path: string): string | undefined {
  if (isObject(expected) && isObject(actual)) {
    return firstOf(Object.keys(expected), (key) => (key in actual ? undefined : `${path}.${key}: missing`));
  }
  return kindOf(actual) === kindOf(expected) ? undefined : `${path}: got ${show(actual)}, want ${kindOf(expected)}`;
}

function firstOf<T>(items: readonly T[], fault: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = fault(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
