import { pbkdf2, type ScryptOptions, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { KeyDerivationBusyError, TooManyTriesError } from "./errors.ts";

/** The function that derives a key from a passphrase. */
export type KdfParams =
  | {
      readonly kdf: "scrypt";
      readonly n: number;
      readonly r: number;
      readonly p: number;
      readonly dklen: number;
      readonly salt: Uint8Array;
    }
  | {
      readonly kdf: "pbkdf2";
      readonly c: number;
      readonly dklen: number;
      readonly salt: Uint8Array;
    };

const scryptAsync = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

/** Attempts to unlock keys and wallets with a passphrase. */
export const PASSPHRASE_LIMITS = {
  /** Wrong passphrases per minute for one account; the node rejects further attempts. */
  triesMax: 5,
  /** Attempts that wait for another. Each takes a second, so more mean an attack or a faulty script. */
  waitingMax: 4,
} as const;

/**
 * Derives keys from passphrases off the main thread, one at a time: each derivation takes up to a second and 256 MiB, so eight at once would
 * take 2 GB and all of libuv's file threads.
 */
export class KeyDerivation {
  #last: Promise<unknown> = Promise.resolve();
  readonly #waitingMax: number;
  readonly #onRejected: () => void;
  /** Derivations running or waiting. */
  #open = 0;

  /** @param onRejected called for every rejected passphrase */
  constructor(waitingMax = PASSPHRASE_LIMITS.waitingMax, onRejected: () => void = () => {}) {
    this.#waitingMax = waitingMax;
    this.#onRejected = onRejected;
  }

  /**
   * The derived key, `dklen` bytes.
   * @throws KeyDerivationBusyError
   */
  async derive(passphrase: string, params: KdfParams): Promise<Uint8Array> {
    if (this.#open > this.#waitingMax) {
      this.#onRejected();
      throw new KeyDerivationBusyError(this.#waitingMax);
    }
    this.#open += 1;
    const derived = this.#last.then(() => run(passphrase, params));
    this.#last = derived
      .catch(() => {})
      .finally(() => {
        this.#open -= 1;
      });
    return derived;
  }
}

async function run(passphrase: string, params: KdfParams): Promise<Uint8Array> {
  const { salt, dklen } = params;
  if (params.kdf === "pbkdf2") return pbkdf2Async(passphrase, salt, params.c, dklen, "sha256");
  const { n: N, r, p } = params;
  // OpenSSL's own count: V of 128·N·r, B of 128·p·r, and a few blocks of work space.
  const maxmem = 128 * r * (N + p + 32);
  // RFC 7914 requires N < 2^(16·r), and OpenSSL enforces it. Files with r = 1 that break the rule exist, also in the official vectors.
  if (N < 2 ** (16 * r)) return scryptAsync(passphrase, salt, dklen, { N, r, p, maxmem });
  const noble = await import("@noble/hashes/scrypt.js");
  return noble.scryptAsync(passphrase, salt, { N, r, p, dkLen: dklen, maxmem });
}

const WINDOW_MS = 60_000;

/**
 * Bounds guessing: limits wrong secrets per minute for one account or wallet. Running attempts count as wrong until they succeed, so concurrent
 * attempts gain nothing.
 */
export class PassphraseTries {
  readonly #triesMax: number;
  readonly #now: () => number;
  readonly #onRejected: () => void;
  /** Times of the failures within the window, and the number of running attempts. */
  readonly #subjects = new Map<string, { failedAt: number[]; running: number }>();

  /**
   * @param modules.now monotonic milliseconds
   * @param modules.onRejected called for every rejected attempt
   */
  constructor(triesMax: number, modules: { readonly now?: () => number; readonly onRejected?: () => void } = {}) {
    this.#triesMax = triesMax;
    this.#now = modules.now ?? (() => performance.now());
    this.#onRejected = modules.onRejected ?? (() => {});
  }

  /**
   * The result of `attempt`.
   * @param isWrong whether an error means a wrong passphrase
   * @throws TooManyTriesError without calling `attempt`, and errors of `attempt`
   */
  async run<T>(subject: string, attempt: () => Promise<T>, isWrong: (error: unknown) => boolean): Promise<T> {
    const state = this.#stateOf(subject);
    if (state.failedAt.length + state.running >= this.#triesMax) {
      this.#onRejected();
      const oldest = state.failedAt[0] ?? this.#now();
      throw new TooManyTriesError(Math.ceil((oldest + WINDOW_MS - this.#now()) / 1000));
    }
    state.running += 1;
    try {
      return await attempt();
    } catch (error) {
      if (isWrong(error)) state.failedAt.push(this.#now());
      throw error;
    } finally {
      state.running -= 1;
      if (state.running === 0 && state.failedAt.length === 0) this.#subjects.delete(subject);
    }
  }

  #stateOf(subject: string) {
    let state = this.#subjects.get(subject);
    if (state === undefined) {
      state = { failedAt: [], running: 0 };
      this.#subjects.set(subject, state);
    }
    const begin = this.#now() - WINDOW_MS;
    state.failedAt = state.failedAt.filter((at) => at > begin);
    return state;
  }
}
