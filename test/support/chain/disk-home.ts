import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compactIndex } from "../../../src/chain/store/index/index-files.ts";
import type { LogBlockStore } from "../../../src/chain/store/log-block-store.ts";
import { openDiskBlockStore } from "../../../src/chain/store/open-block-store.ts";
import type { RetentionOptions } from "../../../src/chain/store/retention/retention.ts";
import { createTrie } from "./memory-disk.ts";
import { writeOldHome } from "./old-home.ts";
import type { RandomBlock, RandomChain } from "./random-chain.ts";

/** The steps that a migration takes once. */
export const MIGRATION_POINTS = ["migrate:written", "migrate:index", "replace:backup", "migrate:end"] as const;

/** The steps that it takes for each record of the log, and the rebuild of the index after it for some together. */
export const REPEATED_MIGRATION_POINTS = ["migrate:record", "replay:commit"] as const;

/** Where a start is killed: at that step, reached for that time. */
export type Death = { readonly point: string; readonly hits: number };

class Killed extends Error {}

/** A store in a directory, which can be left as a killed process leaves it. */
export class DiskHome {
  readonly #parent = mkdtempSync(join(tmpdir(), "evmint-model-"));
  readonly #retention: RetentionOptions | undefined;
  readonly #deferred: (() => void)[] = [];
  /** Stores that were left open: those of killed processes. */
  readonly #left: LogBlockStore[] = [];
  readonly #imports: boolean;
  #lives = 0;
  #opened = 0;
  #store: LogBlockStore | undefined;

  /** @param imports each second time it is opened as an import opens it, where replaced trie nodes do not wait for merges */
  constructor(retention: RetentionOptions | undefined, { imports = false } = {}) {
    this.#retention = retention;
    this.#imports = imports;
  }

  /** Opened where it is not. */
  get store(): LogBlockStore {
    this.#store ??= this.#open();
    return this.#store;
  }

  /** Writes the next `count` blocks of `chain` as an old program left them, then starts once for each of `deaths`, and is killed there. */
  migrate(chain: RandomChain, count: number, deaths: readonly Death[]): readonly RandomBlock[] {
    const blocks = writeOldHome(this.#directory(), count, chain);
    for (const death of deaths) this.#die(death);
    return blocks;
  }

  work(count: number): void {
    for (let i = 0; i < count; i++) this.#deferred.shift()?.();
  }

  async next(kind: "restart" | "kill" | "compact" | "reindex"): Promise<void> {
    if (kind === "kill") {
      this.#left.push(this.store);
      this.#leave();
    } else {
      this.store.close();
      if (kind === "compact") await compactIndex(this.#directory());
    }
    this.#store = this.#open({ reindex: kind === "reindex" });
  }

  remove(): void {
    for (const store of [this.#store, ...this.#left]) store?.close();
    rmSync(this.#parent, { recursive: true });
  }

  /** A start that is killed at `point`, or after it where it does not come there. */
  #die({ point, hits }: Death): void {
    let left = hits;
    const failPoint = (name: string) => {
      if (name !== point || --left !== 0) return;
      this.#leave();
      throw new Killed();
    };
    try {
      this.#left.push(this.#open({ failPoint, onReplay: () => failPoint("replay:commit") }));
      this.#leave();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }

  /** The files at this moment are what the death of the process would leave, its locks aside. */
  #leave(): void {
    cpSync(this.#directory(), this.#directory(this.#lives + 1), {
      recursive: true,
      filter: (path) => !/lock(?:\.mdb)?$/.test(path),
    });
    this.#lives++;
  }

  #directory(life = this.#lives): string {
    return join(this.#parent, String(life));
  }

  #open(options: object = {}): LogBlockStore {
    this.#deferred.length = 0;
    const isImport = this.#imports && this.#opened++ % 2 === 0;
    return openDiskBlockStore({
      directory: this.#directory(),
      createTrie,
      retention: this.#retention,
      defer: (work) => this.#deferred.push(work),
      onPruningFailure(error) {
        throw error;
      },
      bufferLimits: { rowsMax: 60, bytesMax: 100_000, sliceRows: 20 },
      segmentBytesMax: 4_000,
      replayBytesMax: 3_000,
      mergeLimits: {
        versionsMin: 40,
        // One chunk of newest nodes is a megabyte.
        nodeBytesMin: isImport ? 2 << 20 : 20_000,
        dropsReplacedNodes: isImport,
        blocksMin: 12,
        keysMax: 3,
        logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 5 },
      },
      ...options,
    });
  }
}
