import { randomBytes } from "node:crypto";
import type { Config } from "../../node/config/config.ts";
import { readJwtSecret } from "../../node/config/secrets.ts";
import {
  revokeTokens,
  rotateTokenSecret,
  subjectRevokedUntil,
  TOKEN_SECONDS_MAX,
} from "../../node/config/token-file.ts";
import { parseDuration } from "../../node/config/value-types.ts";
import { signJwt } from "../../rpc/transport/auth/jwt.ts";
import { namespaceOf } from "../../rpc/transport/dispatch/method.ts";
import type { CliContext } from "../context.ts";
import { UsageError } from "../errors.ts";

const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

export type TokenOptions = {
  /** A duration such as 24h. */
  readonly expires?: string;
  /** Comma-separated. */
  readonly namespaces?: string;
  /** Comma-separated; `*` for any text. */
  readonly methods?: string;
  /** Whom it is for. */
  readonly subject?: string;
};

/** One day: long enough for work, short enough that a lost token soon expires. */
const LIFETIME_MS = 24 * 3_600_000;

/** A year; more would be a password. */
const LIFETIME_MS_MAX = TOKEN_SECONDS_MAX * 1_000;

/** Prints a bearer token for the methods of the node of `home`, and its id. @throws UsageError */
export async function printToken(
  { home }: Pick<Config, "home">,
  { expires, namespaces, methods, subject }: TokenOptions,
  { stdout, stderr, now }: CliContext,
): Promise<void> {
  const lifetimeMs = expires === undefined ? LIFETIME_MS : parseDuration(expires);
  if (!lifetimeMs || lifetimeMs > LIFETIME_MS_MAX) {
    throw new UsageError(`--expires: ${expires} is not a duration from 1ms to a year, such as 24h`);
  }
  const names = namespaces?.split(",").map((name) => name.trim());
  if (names?.some((name) => !/^[a-z0-9]+$/.test(name))) {
    throw new UsageError(`--namespaces: ${namespaces} is not a list such as personal,miner`);
  }
  if (names !== undefined) await assertNamespaces(names);
  const globs = methods?.split(",").map((glob) => glob.trim());
  if (globs?.some((glob) => !/^[A-Za-z0-9_*]+$/.test(glob))) {
    throw new UsageError(`--methods: ${methods} is not a list such as eth_*,txpool_status`);
  }
  const revokedUntil = subject === undefined ? undefined : subjectRevokedUntil(home, subject, now() / 1_000);
  if (revokedUntil !== undefined) {
    const day = new Date(revokedUntil * 1_000).toISOString().slice(0, 10);
    throw new UsageError(
      `--subject: tokens of ${subject}, including new ones, are revoked until ${day}: choose another subject`,
    );
  }
  const iat = Math.floor(now() / 1000);
  const claims = {
    iat,
    exp: Math.ceil((now() + lifetimeMs) / 1000),
    jti: randomBytes(ID_BYTES).toString("hex"),
    ...(subject !== undefined && { sub: subject }),
    ...(names && { namespaces: names }),
    ...(globs && { methods: globs }),
  };
  stdout.write(`${signJwt(claims, readJwtSecret(home))}\n`);
  stderr.write(`id ${claims.jti}; to revoke it: evmintd token revoke ${claims.jti}\n`);
}

/**
 * Ends one token, or all of a subject. A node that runs takes it within a second, also for WebSockets that are open.
 * @throws UsageError, InvalidConfigError
 */
export function revokeToken(
  { home }: Pick<Config, "home">,
  { id, subject }: Pick<TokenOptions, "subject"> & { readonly id: string | undefined },
  { stdout, now }: CliContext,
): void {
  if ((id === undefined) === (subject === undefined)) throw new UsageError("give the id of a token, or --subject NAME");
  if (id !== undefined && !ID.test(id)) {
    throw new UsageError(`${id} is not a token id of ${2 * ID_BYTES} hex digits`);
  }
  const revoked =
    subject === undefined ? ({ kind: "id", name: id! } as const) : ({ kind: "subject", name: subject } as const);
  revokeTokens(home, revoked, now() / 1_000);
  stdout.write(`revoked: tokens with ${revoked.kind} ${revoked.name} are no longer valid\n`);
}

/** Makes a new secret. Tokens of the one before are good for `grace`, a day by default. @throws UsageError, InvalidConfigError */
export function rotateTokens(
  { home }: Pick<Config, "home">,
  { grace = "24h" }: { readonly grace?: string },
  { stdout, now }: CliContext,
): void {
  const graceMs = parseDuration(grace);
  if (graceMs === undefined || graceMs > LIFETIME_MS_MAX) {
    throw new UsageError(`--grace: ${grace} is not a duration from 0s to a year, such as 24h`);
  }
  rotateTokenSecret(home, { graceSeconds: graceMs / 1_000 }, now() / 1_000);
  stdout.write(
    graceMs === 0
      ? "new secret; older tokens are no longer valid\n"
      : `new secret; older tokens stay valid for ${grace}\n`,
  );
}

/** A token for a namespace without methods would open nothing. @throws UsageError */
async function assertNamespaces(names: readonly string[]): Promise<void> {
  // Loads every method: only where a name has to be checked.
  const { METHODS } = await import("../../rpc/methods/methods.ts");
  const known = new Set(METHODS.map(({ name }) => namespaceOf(name)));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new UsageError(`--namespaces: unknown namespace ${unknown}; known: ${[...known].join(", ")}`);
}
