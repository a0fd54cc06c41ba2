import type { Config } from "../../config/config.ts";
import { readJwtSecret } from "../../config/secrets.ts";
import { parseDuration } from "../../config/value-types.ts";
import { signJwt } from "../../rpc/transport/auth/jwt.ts";
import { namespaceOf } from "../../rpc/transport/dispatch/method.ts";
import type { CliContext } from "../context.ts";
import { UsageError } from "../errors.ts";

export type TokenOptions = {
  /** A duration such as 24h. */
  readonly expires?: string;
  /** Comma-separated. */
  readonly namespaces?: string;
};

/** A working day: long enough not to be in the way, short enough that a lost one dies by itself. */
const LIFETIME_MS = 24 * 3_600_000;

/** A year; more would be a password. */
const LIFETIME_MS_MAX = 365 * 24 * 3_600_000;

/** Prints a bearer token for the private methods of the node of `home`. @throws UsageError */
export async function printToken(
  { home }: Pick<Config, "home">,
  { expires, namespaces }: TokenOptions,
  { stdout, now }: CliContext,
): Promise<void> {
  const lifetimeMs = expires === undefined ? LIFETIME_MS : parseDuration(expires);
  if (!lifetimeMs || lifetimeMs > LIFETIME_MS_MAX) {
    throw new UsageError(`--expires: ${expires} is not a duration from 1ms to a year, such as 24h`);
  }
  const names = namespaces?.split(",").map((name) => name.trim());
  if (names?.some((name) => !/^[a-z0-9]+$/.test(name))) {
    throw new UsageError(`--namespaces: ${namespaces} is not a list such as personal,miner`);
  }
  if (names !== undefined) await assertPrivateNamespaces(names);
  const iat = Math.floor(now() / 1000);
  const claims = {
    iat,
    exp: Math.ceil((now() + lifetimeMs) / 1000),
    ...(names && { namespaces: names }),
  };
  stdout.write(`${signJwt(claims, readJwtSecret(home))}\n`);
}

/** A token for a namespace without private methods would open nothing. @throws UsageError */
async function assertPrivateNamespaces(names: readonly string[]): Promise<void> {
  // Loads every method: only where a name has to be checked.
  const { METHODS } = await import("../../rpc/methods/methods.ts");
  const known = new Set(METHODS.filter(({ isPrivate }) => isPrivate).map(({ name }) => namespaceOf(name)));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new UsageError(`--namespaces: ${unknown} has no private methods; those that do are ${[...known].join(", ")}`);
}
