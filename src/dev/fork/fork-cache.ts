import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hash } from "../../base/primitives/hash.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import type { RemoteCall } from "./remote-calls.ts";

/** Longer results are traces of whole blocks: a few of them would take the place of all state. */
const RESULT_LENGTH_MAX = 4 << 20;

/** State that a fork has read from its remote chain. */
export const FORK_CACHE_LIMITS = {
  /**
   * Memory, and about the size of the file: 500,000 slots and 2,000 contracts, more than test suites read. Entries that do not fit are
   * fetched again.
   */
  bytesMax: 256 * 2 ** 20,
} as const;

/** The block of a cache. Caches never mix blocks, nor proven with unproven results. */
type CachedBlock = {
  readonly chainId: bigint;
  readonly number: number;
  readonly hash: Hash;
  readonly isVerified: boolean;
};

/** Name of the file for `block`: a block with another hash has another file. */
export function forkCacheName({ chainId, number, hash, isVerified }: CachedBlock): string {
  return `${chainId}-${number}-${hash.slice(2)}${isVerified ? "" : "-unverified"}.jsonl`;
}

/** Removes caches whose names lack the block, as earlier versions wrote them. Returns their number. */
export function removeUnboundCaches(directory: string): number {
  if (!existsSync(directory)) return 0;
  const unbound = readdirSync(directory).filter((name) => /^\d+-\d+\.jsonl$/.test(name));
  for (const name of unbound) rmSync(join(directory, name), { force: true });
  return unbound.length;
}

/**
 * Results of the remote chain that never change: its state at the fork, and older blocks. One file, a line for each: the call and its
 * result as JSON. A line that was cut by a crash is ignored.
 *
 * The limit bounds the memory of results, and about the size of the file; results that do not fit are not stored.
 */
export class ForkCache {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #results = new Map<string, string>();
  #bytes = 0;
  #rejected = 0;

  constructor(path: string, bytesMax: number) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    makeFolder(dirname(path));
    if (!existsSync(path)) return;
    const lines = readFileSync(path, "utf8").split("\n");
    // What follows the last line break was not written whole.
    const torn = lines.pop();
    for (const line of lines) {
      const [key, result] = readLine(line);
      if (key !== undefined && this.#fits(key, result)) this.#remember(key, result);
    }
    if (torn !== "") appendFileSync(path, "\n");
  }

  /** undefined: not known */
  get(call: RemoteCall): { readonly result: unknown } | undefined {
    const text = this.#results.get(keyOf(call));
    return text === undefined ? undefined : { result: JSON.parse(text) };
  }

  add(entries: readonly (readonly [RemoteCall, unknown])[]): void {
    let lines = "";
    for (const [call, result] of entries) {
      const [key, text] = [keyOf(call), JSON.stringify(result)];
      if (this.#results.has(key)) continue;
      if (!this.#fits(key, text)) {
        this.#rejected++;
        continue;
      }
      this.#remember(key, text);
      lines += `[${JSON.stringify(key)},${text}]\n`;
    }
    if (lines !== "") appendFileSync(this.#path, lines, { mode: 0o600 });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Results that did not fit. */
  get rejected(): number {
    return this.#rejected;
  }

  #fits(key: string, text: string): boolean {
    const isSmall = text.length <= RESULT_LENGTH_MAX;
    return isSmall && this.#bytes + key.length + text.length <= this.#bytesMax;
  }

  #remember(key: string, text: string): void {
    this.#results.set(key, text);
    this.#bytes += key.length + text.length;
  }
}

function keyOf({ method, params }: RemoteCall): string {
  return `${method} ${JSON.stringify(params)}`;
}

function readLine(line: string): readonly [string, string] | readonly [undefined] {
  try {
    const [key, result] = JSON.parse(line) as [string, unknown];
    return [key, JSON.stringify(result)];
  } catch {
    return [undefined];
  }
}
