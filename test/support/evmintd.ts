import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { assertExpected, errorLinesOf } from "./node-log.ts";
import { PATIENT_ENVIRONMENT } from "./patient.ts";

const ENTRY = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));

/** A process of `evmintd`, as built, with its output so far. */
export type Evmintd = {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Exit code, or the name of the signal that ended it. Rejects where it logged errors that were not declared. */
  readonly exited: Promise<number | string>;
  /** Declares lines of level error that the process will log. */
  expectErrors(...patterns: readonly RegExp[]): void;
  /** Declares lines of level error that it may log: what decides is outside the process. */
  allowErrors(...patterns: readonly RegExp[]): void;
};

/**
 * Starts `evmintd ARGS` with nothing of this process's settings.
 * @param runtimeArgs arguments of Node.js itself
 * @param runtime another program that runs JavaScript
 * @param entry another module than that of `evmintd`
 */
export function spawnEvmintd(
  args: readonly string[],
  runtimeArgs: readonly string[] = [],
  runtime = process.execPath,
  entry = ENTRY,
): Evmintd {
  const child = spawn(runtime, [...runtimeArgs, entry, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      EVMINT_JSON_RPC_PROCESSES: process.env["TEST_PROCESSES"] ?? "0",
      ...PATIENT_ENVIRONMENT,
    },
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const expected: RegExp[] = [];
  const possible: RegExp[] = [];
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  }).then((end) => {
    assertExpected(errorLinesOf(output.stdout + output.stderr), expected, possible);
    return end;
  });
  return {
    child,
    output,
    exited,
    expectErrors: (...patterns) => void expected.push(...patterns),
    allowErrors: (...patterns) => void possible.push(...patterns),
  };
}

/** Runs `evmintd ARGS` to its end. */
export async function runEvmintd(args: readonly string[]) {
  const { output, exited } = spawnEvmintd(args);
  return { code: await exited, ...output };
}

/** Starts a node in a separate process, and resolves with its HTTP address once it answers. */
export async function startEvmintd(
  home: string,
  args: readonly string[] = [],
  runtimeArgs: readonly string[] = [],
  runtime = process.execPath,
) {
  const node = spawnEvmintd(
    [
      "start",
      "--home",
      home,
      "--json-rpc.enable",
      "true",
      "--json-rpc.address",
      "127.0.0.1:0",
      "--json-rpc.ws-address",
      "127.0.0.1:0",
      ...args,
    ],
    runtimeArgs,
    runtime,
  );
  const url = await new Promise<string>((resolve, reject) => {
    node.child.stdout!.on("data", () => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(node.output.stdout);
      if (found) resolve(found[0]);
    });
    node.exited.then((code) => reject(new Error(`evmintd ended with ${code}: ${node.output.stderr}`)), reject);
  });
  return { ...node, url };
}
