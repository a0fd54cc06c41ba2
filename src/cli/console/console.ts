import { dirname } from "node:path";
import { type AsyncCompleter, createInterface } from "node:readline";
import { type REPLServer, type ReplOptions, start } from "node:repl";
import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import type { Context } from "node:vm";
import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { connect } from "./connection.ts";
import { createScope } from "./scope.ts";
import {
  addScope,
  createScriptContext,
  evaluate,
  isShowable,
  printerOf,
  printValue,
  runFile,
  type Scope,
  shownValue,
} from "./scripts.ts";

type ConsoleOptions = {
  /** URL or path of an IPC socket. */
  readonly target: string;
  /** Bearer token for private methods. */
  readonly token: string | undefined;
  /** Code to run instead of the prompt. */
  readonly exec: string | undefined;
  /** File to run first. */
  readonly preload: string | undefined;
  readonly historyPath: string;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
};

/**
 * A JavaScript console on a node.
 * @throws ConnectionFailedError, and errors of the code in `exec` and `preload`
 */
export async function runConsole(options: ConsoleOptions): Promise<void> {
  const { target, token, exec, preload, input, output, historyPath } = options;
  const isTerminal = output.isTTY === true;
  const print = printerOf(output, exec !== undefined && !isTerminal);
  const connection = await connect(target, token);
  try {
    const scope = await createScope(connection, print);
    if (exec !== undefined) {
      const context = createScriptContext(scope);
      if (preload !== undefined) await runFile(preload, context);
      print(printValue(await evaluate(exec, context, "--exec")));
      return;
    }
    const version = await connection.request("web3_clientVersion", []);
    print(`${version}\n${connection.target}\nType help() for help and .exit to quit.\n`);
    await runInteractive({
      scope,
      input,
      output,
      historyPath,
      isTerminal,
      preload: async (context) => {
        if (preload !== undefined) await runFile(preload, context);
      },
    });
  } finally {
    connection.close();
  }
}

type InteractiveOptions = {
  readonly scope: Scope;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  readonly historyPath: string;
  /** Runs before the first prompt. */
  readonly preload: (context: Context) => Promise<void>;
};

/** Reads lines until `.exit` or the end of the input. @throws what `preload` throws */
async function runInteractive(options: InteractiveOptions): Promise<void> {
  const { scope, input, output, isTerminal, historyPath, preload } = options;
  const lines = isTerminal ? undefined : createInterface({ input })[Symbol.asyncIterator]();
  const source = isTerminal ? input : new PassThrough();
  // The first prompt waits for the preloaded file.
  const server = start({
    prompt: "",
    input: source,
    output,
    terminal: isTerminal,
    // What is being typed is not evaluated, and its value not written, at each key.
    preview: false,
    writer: (value) => shownValue(value, isTerminal && hasColors(output)),
  });
  addScope(server.context, scope);
  // `.clear` makes a new context.
  server.on("reset", (context) => addScope(context, scope));
  awaitResults(server);
  completeShowableNames(server);
  const ended = new Promise<void>((resolve) => server.on("exit", resolve));
  try {
    await preload(server.context);
    if (isTerminal) await openHistory(server, historyPath);
  } catch (error) {
    server.close();
    throw error;
  }
  if (lines !== undefined) feedAtPrompt(server, lines, source as PassThrough);
  server.setPrompt("> ");
  server.displayPrompt();
  await ended;
}

/** Writes the next line to `source` when the one before it is done: it may wait for an answer of the node. */
function feedAtPrompt(server: REPLServer, lines: AsyncIterator<string>, source: PassThrough): void {
  const displayPrompt = server.displayPrompt.bind(server);
  server.displayPrompt = (...options) => {
    displayPrompt(...options);
    void lines.next().then(({ value, done }) => {
      if (done) source.end();
      else source.write(`${value}\n`);
    });
  };
}

/** Prints what a promise resolves to, as if every line began with `await`. */
function awaitResults(server: REPLServer): void {
  const run = server.eval as NonNullable<ReplOptions["eval"]>;
  const evaluateLine: typeof run = (code, context, file, callback) => {
    run.call(server, code, context, file, (error, value) => {
      if (error || !isPromise(value)) callback(error, value);
      else
        value.then(
          (result) => callback(null, result),
          (reason) => callback(reason, undefined),
        );
    });
  };
  (server as { eval: typeof run }).eval = evaluateLine;
}

function hasColors(output: NodeJS.WritableStream & Partial<Pick<WriteStream, "hasColors">>) {
  return output.hasColors?.() === true;
}

/** Member names may come from a node's answer. */
function completeShowableNames(server: REPLServer): void {
  const complete = server.completer as AsyncCompleter;
  const filtered: AsyncCompleter = (line, callback) =>
    complete.call(server, line, (error, found) => {
      if (found === undefined) callback(error);
      else callback(error, [found[0].filter(isShowable), found[1]]);
    });
  (server as { completer: AsyncCompleter }).completer = filtered;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** The console runs without a history where the file cannot be written. */
function openHistory(server: REPLServer, path: string): Promise<void> {
  return new Promise((resolve) => {
    try {
      makeFolder(dirname(path));
    } catch {
      resolve();
      return;
    }
    // Lines that were pasted may have brought anything; the newest line of the array is its first.
    server.on("history", (lines: string[]) => {
      for (const [index, line] of lines.entries()) lines[index] = escapeControls(line);
    });
    server.setupHistory(path, () => {
      const { history } = server as unknown as { readonly history: string[] };
      for (const [index, line] of history.entries()) history[index] = escapeControls(line);
      resolve();
    });
  });
}
