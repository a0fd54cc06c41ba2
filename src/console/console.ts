import { connect } from "./connect.ts";
import { createScriptContext, evaluate, printValue, runFile } from "./evaluate.ts";
import { runInteractive } from "./interactive.ts";
import { printerOf } from "./printing.ts";
import { createScope } from "./scope.ts";

export type ConsoleOptions = {
  /** URL or path of an IPC socket. */
  readonly target: string;
  /** Bearer token for private methods. */
  readonly token: string | undefined;
  /** Code to run in place of the prompt. */
  readonly exec: string | undefined;
  /** File to run first. */
  readonly preload: string | undefined;
  readonly historyPath: string;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
};

/**
 * A JavaScript console on a node.
 * @throws ConnectionFailedError, and in `exec` and `preload` what the code throws
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
    print(`${version}\n${connection.target}\nhelp() lists what there is; .exit ends.\n`);
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
