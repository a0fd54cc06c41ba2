import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { readJwtSecret } from "../../config/secrets.ts";
import { formatHostPort } from "../../config/value-types.ts";
import { runConsole } from "../../console/console.ts";
import { signJwt } from "../../rpc/auth/jwt.ts";
import type { CliContext } from "../context.ts";
import { CommandError } from "../errors.ts";
import { start } from "./start.ts";

export type AttachOptions = {
  readonly exec?: string;
  readonly preload?: string;
  readonly token?: string;
};

/** Between two requests of one console the token of its start must not expire. */
const TOKEN_LIFETIME_S = 24 * 3600;

/** A console on a running node: that of the home unless `target` names another. @throws as runConsole */
export async function attach(
  target: string | undefined,
  config: Config,
  options: AttachOptions,
  context: CliContext,
): Promise<void> {
  const own = target ?? ownAddress(config);
  await runConsole({
    target: own,
    // A token of this home goes to this home's node alone.
    token: options.token ?? (target === undefined ? ownToken(config, context) : undefined),
    exec: options.exec,
    preload: options.preload,
    historyPath: join(config.home, "console-history"),
    input: context.stdin,
    output: context.stdout,
  });
}

/** Runs a node and a console on it; the node stops when the console ends. @throws as start and runConsole */
export async function startWithConsole(
  config: Config,
  options: AttachOptions,
  context: CliContext,
): Promise<void> {
  if (!config.ipc.enable) throw new CommandError("the console needs ipc.enable = true");
  await start(config, context, () => attach(undefined, config, options, context));
}

/** The IPC socket where there is one, else the HTTP listener. */
function ownAddress({ home, ipc, jsonRpc }: Config): string {
  const path = resolve(home, ipc.path);
  if (ipc.enable && existsSync(path)) return path;
  if (jsonRpc.enable) return `http://${formatHostPort(jsonRpc.address)}`;
  throw new CommandError(`no node runs on ${home}: start it, or name the URL of another`);
}

function ownToken({ home }: Config, { now }: CliContext): string {
  const iat = Math.floor(now() / 1000);
  return signJwt({ iat, exp: iat + TOKEN_LIFETIME_S }, readJwtSecret(home));
}
