import { readFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { CliContext, Input, Output } from "./context.ts";
import { CommandError, InterruptedError, UsageError } from "./errors.ts";

/** Where the passphrases of one command come from, in the order it asks for them. Never its arguments: `ps` shows those. */
export type PassphraseSource = {
  /** The passphrase of something that exists. */
  existing(prompt: string): Promise<string>;
  /** A new passphrase, requested twice if a user types it. */
  chosen(prompt: string): Promise<string>;
};

/**
 * Lines of `file`, else hidden prompts on a terminal, else lines of standard input.
 * @throws UsageError when the file cannot be read
 */
export function openPassphrases(
  file: string | undefined,
  context: Pick<CliContext, "stdin" | "stderr">,
): PassphraseSource {
  if (file !== undefined) return fromLines(async () => readPassphraseFile(file));
  if (context.stdin.isTTY === true) return fromPrompts(context.stdin, context.stderr);
  return fromLines(() => readAll(context.stdin));
}

function fromPrompts(stdin: Input, stderr: Output): PassphraseSource {
  const ask = (prompt: string) => promptHidden(`${prompt}: `, stdin, stderr);
  return {
    existing: ask,
    async chosen(prompt) {
      const first = await ask(prompt);
      if ((await ask(`${prompt}, again`)) !== first) {
        throw new CommandError("the two passphrases differ");
      }
      return first;
    },
  };
}

function fromLines(read: () => Promise<string>): PassphraseSource {
  let lines: string[] | undefined;
  async function next(prompt: string): Promise<string> {
    // The line feed that ends the last line is not the start of another.
    lines ??= (await read()).replace(/\r?\n$/, "").split(/\r?\n/);
    const line = lines.shift();
    if (line === undefined) throw new UsageError(`no line left in the file for: ${prompt.toLowerCase()}`);
    return line;
  }
  return { existing: next, chosen: next };
}

function readPassphraseFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`cannot read passphrase file ${file}`, { file }, { cause });
  }
}

async function readAll(stdin: Input): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

const CTRL_C = "\x03";
const CTRL_D = "\x04";
const BACKSPACES = new Set(["\x7f", "\b"]);

/** Reads a line from a terminal without showing it. */
function promptHidden(prompt: string, stdin: Input, stderr: Output): Promise<string> {
  stderr.write(prompt);
  stdin.setRawMode?.(true);
  const decoder = new StringDecoder("utf8");
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    function finish(settle: () => void): void {
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write("\n");
      settle();
    }
    const onEnd = () => finish(() => reject(new InterruptedError("interrupted")));
    function onData(chunk: Buffer | string): void {
      const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
      for (const [index, char] of [...text].entries()) {
        if (char === CTRL_C || char === CTRL_D) {
          onEnd();
          return;
        }
        if (char === "\r" || char === "\n") {
          // Pasted or typed ahead: what follows belongs to the next prompt.
          const rest = [...text].slice(index + 1).join("");
          finish(() => resolve(typed.join("")));
          if (rest !== "") stdin.unshift(rest);
          return;
        }
        if (BACKSPACES.has(char)) typed = typed.slice(0, -1);
        else typed.push(char);
      }
    }
    stdin.on("data", onData);
    stdin.on("end", onEnd);
    stdin.resume();
  });
}
