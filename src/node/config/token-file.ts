import { randomBytes } from "node:crypto";
import { listOf, matching, members, oneOf, optional, type Shape, text } from "../../base/primitives/shape.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { TokenKeys, TokenNames } from "../../rpc/transport/auth/authenticator.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { readJsonFile } from "../../store/storage/read-file.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { InvalidConfigError } from "./errors.ts";
import { CONFIG_FILE_BYTES_MAX, jwtSecretPath, tokensPath } from "./home.ts";
import { readJwtSecret } from "./secrets.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Tokens live at most a year, so that revocations and old secrets can be dropped. */
export const TOKEN_SECONDS_MAX = 365 * 86_400;
/** Maximum revocations in the file; beyond that, rotate the secret. */
export const REVOKED_MAX = 10_000;

/** Contents of `config/tokens.json`: the state of tokens besides the newest secret. Times are in Unix seconds. */
export type TokenState = {
  /** The previous secret, in hex. */
  readonly previous?: { readonly secret: string; readonly until: number };
  /** Ids and subjects of revoked tokens, and when the last of them would have expired. */
  readonly revoked: readonly Revocation[];
};

type Revocation = { readonly name: string; readonly kind: "id" | "subject"; readonly until: number };

/** The secret of a chain in memory. */
export function fixedTokenKeys(secret: Uint8Array): TokenKeys {
  return { secrets: () => [secret], isRevoked: () => false };
}

type TokenFilesModules = {
  /** Called when the files cannot be read; all tokens are rejected until they can. */
  readonly onFault: (error: unknown) => void;
  /** Seconds of the Unix clock. */
  readonly nowSeconds?: () => number;
  readonly timers: Pick<Timers, "now">;
};

export class TokenFiles implements TokenKeys {
  readonly #nowSeconds: () => number;
  readonly #files: WatchedFiles<{
    readonly newest: Uint8Array;
    readonly previous: TokenState["previous"];
    readonly revoked: ReadonlySet<string>;
  }>;

  /** @throws InvalidConfigError if the files are unusable */
  constructor(home: string, { nowSeconds = () => Date.now() / 1_000, ...modules }: TokenFilesModules) {
    this.#nowSeconds = nowSeconds;
    this.#files = new WatchedFiles({
      ...modules,
      paths: [jwtSecretPath(home), tokensPath(home)],
      read() {
        const { previous, revoked } = readTokenState(home);
        const names = revoked.map(({ kind, name }) => `${kind} ${name}`);
        return { newest: readJwtSecret(home), previous, revoked: new Set(names) };
      },
    });
  }

  secrets(): readonly Uint8Array[] {
    const { value } = this.#files;
    if (value === undefined) return [];
    const { newest, previous } = value;
    const isPreviousGood = previous !== undefined && previous.until > this.#nowSeconds();
    return isPreviousGood ? [newest, Buffer.from(previous.secret, "hex")] : [newest];
  }

  isRevoked({ id, subject }: TokenNames): boolean {
    const { value } = this.#files;
    return value === undefined || value.revoked.has(`id ${id}`) || value.revoked.has(`subject ${subject}`);
  }
}

/** @throws InvalidConfigError if the files are unusable */
export function openTokenFiles(
  home: string,
  { log, timers }: { readonly log: Logger; readonly timers: Pick<Timers, "now"> },
): TokenKeys {
  return new TokenFiles(home, {
    timers,
    onFault: (error) => log.error("rejecting all tokens: their files cannot be read", { error }),
  });
}

/** Revokes all tokens with this id or subject. @throws InvalidConfigError */
export function revokeTokens(home: string, revoked: Pick<Revocation, "kind" | "name">, nowSeconds: number): void {
  const state = readTokenState(home);
  const others = state.revoked.filter(
    ({ kind, name, until }) => until > nowSeconds && !(kind === revoked.kind && name === revoked.name),
  );
  if (others.length >= REVOKED_MAX) {
    throw new InvalidConfigError(
      `${REVOKED_MAX} tokens are revoked: make a new secret (evmintd token rotate --grace 0s)`,
    );
  }
  const until = Math.ceil(nowSeconds) + TOKEN_SECONDS_MAX;
  writeTokenState(home, { ...state, revoked: [...others, { ...revoked, until }] });
}

/** Unix seconds until which tokens of `subject` are revoked; undefined: not revoked. @throws InvalidConfigError */
export function subjectRevokedUntil(home: string, subject: string, nowSeconds: number): number | undefined {
  const { revoked } = readTokenState(home);
  return revoked.find(({ kind, name, until }) => kind === "subject" && name === subject && until > nowSeconds)?.until;
}

/** Writes a new secret to `jwt.hex`; tokens of the previous one stay valid for `graceSeconds`. @throws InvalidConfigError */
export function rotateTokenSecret(home: string, { graceSeconds }: { graceSeconds: number }, nowSeconds: number): void {
  const { revoked } = readTokenState(home);
  const secret = Buffer.from(readJwtSecret(home)).toString("hex");
  const until = Math.ceil(nowSeconds + graceSeconds);
  // In this order, a crash between the two writes leaves the old secret valid.
  writeTokenState(home, graceSeconds > 0 ? { previous: { secret, until }, revoked } : { revoked });
  replaceFile(jwtSecretPath(home), `0x${randomBytes(32).toString("hex")}\n`, 0o600);
}

function writeTokenState(home: string, state: TokenState): void {
  replaceFile(tokensPath(home), `${JSON.stringify(state, null, 2)}\n`, 0o600);
}

/** @throws InvalidConfigError for contents that `writeTokenState` does not write */
export function readTokenState(home: string): TokenState {
  const path = tokensPath(home);
  let value: unknown;
  try {
    value = ifPresent(() => readJsonFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX }));
    if (value === undefined) return { revoked: [] };
  } catch (cause) {
    throw new InvalidConfigError(`cannot read ${path}; all tokens are rejected until it can be`, { path }, { cause });
  }
  if (TOKEN_STATE(value) !== undefined) {
    throw new InvalidConfigError(
      `${path} is damaged, so all tokens are rejected: restore it, or delete it with its revocations`,
      {
        path,
      },
    );
  }
  return value as TokenState;
}

const UNTIL: Shape = (value) => (Number.isSafeInteger(value) ? undefined : "is not a time");
const TOKEN_STATE = members({
  previous: optional(members({ secret: matching(/^[0-9a-f]{64}$/), until: UNTIL })),
  revoked: listOf(members({ kind: oneOf(["id", "subject"]), name: text, until: UNTIL }), REVOKED_MAX),
});
