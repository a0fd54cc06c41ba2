import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../node/config/config.ts";
import { formatHostPort } from "../../node/config/value-types.ts";
import { runConsole } from "../console/console.ts";
import { type CliContext, openLog } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";
import { start } from "./start.ts";

export type AttachOptions = {
  readonly exec?: string;
  readonly preload?: string;
  /** Deprecated: every user of the machine sees the arguments of a program. */
  readonly token?: string;
  readonly tokenFile?: string;
};

/** JWT in its compact form (RFC 7519). */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A console on a running node: that of the home unless `target` names another. @throws UsageError, and as runConsole */
export async function attach(
  target: string | undefined,
  config: Config,
  options: AttachOptions,
  context: CliContext,
): Promise<void> {
  const token = givenToken(options, context);
  await runConsole({
    target: target ?? ownAddress(config),
    // Never one made here: any program that listens at the address of a node that is not running would get it.
    token,
    exec: options.exec,
    preload: options.preload,
    historyPath: join(config.home, "console-history"),
    input: context.stdin,
    output: context.stdout,
  });
}

/** Runs a node and a console on it; the node stops when the console ends. @throws as start and runConsole */
export async function startWithConsole(config: Config, options: AttachOptions, context: CliContext): Promise<void> {
  if (config.ipc.path === "") throw new CommandError("the console needs ipc.path");
  // Lines about single calls, most of them the console's own, would interrupt the user's typing.
  const log = openLog(config, context);
  await start(config, context, { log, attended: () => attach(undefined, config, options, context) });
}

/** The IPC socket if it exists, else the HTTP listener. */
function ownAddress({ home, ipc, jsonRpc }: Config): string {
  const path = resolve(home, ipc.path);
  if (ipc.path !== "" && existsSync(path)) return path;
  if (jsonRpc.enable) return `http://${formatHostPort(jsonRpc.address)}`;
  throw new CommandError(`no node is running on ${home}: start it, or give the URL of another`);
}

/** Of the file, else of the arguments, else of EVMINT_TOKEN. @throws UsageError without its text */
function givenToken({ token, tokenFile }: AttachOptions, { environment, stderr }: CliContext): string | undefined {
  if (token !== undefined) {
    stderr.write("warning: other users can see --token; use --token-file\n");
  }
  const text = (tokenFile === undefined ? undefined : readToken(tokenFile)) ?? token;
  const given = (text ?? environment["EVMINT_TOKEN"])?.trim();
  if (given === undefined || TOKEN.test(given)) return given;
  throw new UsageError('the token is not one: "evmintd token" prints one');
}

/** @throws UsageError */
function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new UsageError(`cannot read token file ${path}`, { path }, { cause });
  }
}
