import { Console } from "node:console";
import { readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import { type Context, createContext, Script } from "node:vm";
import { escapeControls, escapeControlsInLines } from "../../base/telemetry/escape-controls.ts";

/** The names that a script or a line of the console can use. */
export type Scope = Record<string, unknown>;

/** A context for scripts: `scope`, and the globals that scripts expect besides JavaScript's own. */
export function createScriptContext(scope: Scope): Context {
  // biome-ignore lint/style/noRestrictedGlobals: they are for the scripts, whose exceptions end the console
  const timers = { setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask };
  const context = createContext({
    ...timers,
    Buffer,
    TextEncoder,
    TextDecoder,
    URL,
    fetch,
    process,
  });
  return addScope(context, scope);
}

/** Defines the names of `scope` in `context` without calling its getters. */
export function addScope(context: Context, scope: Scope): Context {
  return Object.defineProperties(context, Object.getOwnPropertyDescriptors(scope));
}

/**
 * The value of `code`: of an expression, or what its statements `return`. `await` works in both.
 * @throws SyntaxError, and errors of the code
 */
export async function evaluate(code: string, context: Context, filename: string): Promise<unknown> {
  const script = compileExpression(code, filename) ?? asFunction(`${code}\n`, filename);
  return await (script.runInContext(context) as Promise<unknown>);
}

/** Runs a file; its declarations stay in the context unless it uses `await`. @throws as evaluate, and the file system's errors */
export async function runFile(path: string, context: Context): Promise<void> {
  const code = readFileSync(path, "utf8");
  await (compile(code, path) ?? asFunction(code, path)).runInContext(context);
}

/** The text for a value that a script ends with: strings and bigints bare, everything else as JSON. */
export function printValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string" || typeof value === "bigint") return `${value}\n`;
  const json = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? each.toString() : each), 2);
  return `${json ?? inspect(value)}\n`;
}

function compileExpression(code: string, filename: string): Script | undefined {
  return compile(`(async () => (${code.trim().replace(/;$/, "")}\n))()`, filename);
}

/** @throws SyntaxError */
function asFunction(code: string, filename: string): Script {
  try {
    return new Script(`(async () => {${code}\n})()`, { filename });
  } catch (error) {
    throw ownError(code, filename) ?? error;
  }
}

/** What is wrong with `code` itself; undefined where it is right but for `await` and `return`, which only a function may have. */
function ownError(code: string, filename: string): SyntaxError | undefined {
  try {
    new Script(code, { filename });
  } catch (error) {
    if (error instanceof SyntaxError && !/\b(?:await|return)\b/.test(error.message)) return error;
  }
  return undefined;
}

function compile(code: string, filename: string): Script | undefined {
  try {
    return new Script(code, { filename });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Takes text for the output of the console. */
export type Print = (text: string) => void;

/**
 * Writes to `output`, without control characters but for line feeds and tabs: part of nearly every text is a node's.
 * @param isData what reads the output wants the bytes of a script as they are
 */
export function printerOf(output: NodeJS.WritableStream, isData: boolean): Print {
  return (text) => void output.write(isData ? text : escapeControlsInLines(text));
}

/** The text that the prompt shows for a value; colors only where no text in it could bring its own. */
export function shownValue(value: unknown, colors: boolean): string {
  const options = { showProxy: true };
  const text = inspect(value, options);
  const escaped = escapeControlsInLines(text);
  return colors && escaped === text ? inspect(value, { ...options, colors }) : escaped;
}

/** `console` of scripts and lines. */
export function createScriptConsole(print: Print): Console {
  const stdout = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      print(String(text));
      done();
    },
  });
  return new Console({ stdout });
}

/** True for a name that can be completed: member names of a node may contain any text. */
export function isShowable(name: string): boolean {
  return escapeControls(name) === name;
}
