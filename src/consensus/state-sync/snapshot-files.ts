import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { makeFolder, syncDirectory } from "../../store/storage/make-folder.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import type { Snapshot } from "../application.ts";
import { createChunkHash, describeSnapshot, SNAPSHOT_FORMAT } from "./snapshot-format.ts";

/** Snapshots of this node: a peer that fetches the older one can finish while the next is written. */
const SNAPSHOTS_KEPT = 2;

/** Folder name of a complete snapshot: height and format. */
const NAME = /^(\d{1,15})-(\d{1,9})$/;
/** Includes format 1, whose folder names contain only the height. */
const ANY_FORMAT = /^\d+(-\d+)?$/;
const UNFINISHED = "unfinished";
const HASH_BYTES = 32;

/** The snapshots of a node: a folder per height, with a file per chunk and the hashes in `metadata`. */
export class SnapshotFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Newest first. */
  list(): readonly Snapshot[] {
    return this.#heights().flatMap((height) => {
      const metadata = readIfThere(join(this.#folder(height), "metadata"));
      // A snapshot that the disk has lost is not offered: a single error answer would end the connection to the engine.
      if (metadata.length === 0 || metadata.length % HASH_BYTES !== 0) return [];
      const hashes = Array.from({ length: metadata.length / HASH_BYTES }, (_, index) =>
        metadata.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
      );
      return [describeSnapshot(height, hashes)];
    });
  }

  /** Empty if it does not exist. */
  chunk(height: number, format: number, index: number): Uint8Array {
    if (format !== SNAPSHOT_FORMAT || !this.#heights().includes(height)) return EMPTY_BYTES;
    return readIfThere(join(this.#folder(height), String(index)));
  }

  /**
   * Stores a snapshot durably and removes the oldest; a failed one leaves nothing.
   * @param tails called after the last chunk: final bytes of each chunk
   * @returns bytes written
   */
  async write(
    height: number,
    chunks: AsyncIterable<Uint8Array>,
    tails: () => readonly Uint8Array[] = () => [],
  ): Promise<number> {
    const unfinished = join(this.#directory, UNFINISHED);
    rmSync(unfinished, { recursive: true, force: true });
    makeFolder(unfinished);
    let bytes = 0;
    try {
      // Incremental hashes, so that no chunk is read again for its last bytes.
      const hashes: ReturnType<typeof createChunkHash>[] = [];
      for await (const chunk of chunks) {
        await appendSynced(join(unfinished, String(hashes.length)), chunk);
        hashes.push(createChunkHash().update(chunk));
        bytes += chunk.length;
      }
      for (const [index, tail] of tails().entries()) {
        if (tail.length === 0) continue;
        await appendSynced(join(unfinished, String(index)), tail);
        hashes[index]!.update(tail);
        bytes += tail.length;
      }
      const { metadata } = describeSnapshot(
        height,
        hashes.map((hash) => hash.digest()),
      );
      // Also syncs the names of the chunks. The folder gets its name once everything in it is on disk.
      replaceFile(join(unfinished, "metadata"), metadata, 0o600);
      rmSync(this.#folder(height), { recursive: true, force: true });
      renameSync(unfinished, this.#folder(height));
      syncDirectory(this.#directory);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw error;
    }
    const newest = this.#heights().slice(0, SNAPSHOTS_KEPT).map(nameOf);
    for (const name of readdirSync(this.#directory)) {
      if (ANY_FORMAT.test(name) && !newest.includes(name)) rmSync(join(this.#directory, name), { recursive: true });
    }
    return bytes;
  }

  #folder(height: number): string {
    return join(this.#directory, nameOf(height));
  }

  /** Newest first. */
  #heights(): readonly number[] {
    const names = ifPresent(() => readdirSync(this.#directory)) ?? [];
    return names
      .map((name) => NAME.exec(name))
      .filter((parts) => Number(parts?.[2]) === SNAPSHOT_FORMAT)
      .map((parts) => Number(parts![1]))
      .sort((a, b) => b - a);
  }
}

function nameOf(height: number): string {
  return `${height}-${SNAPSHOT_FORMAT}`;
}

/** Empty if the file does not exist. */
function readIfThere(path: string): Uint8Array {
  return ifPresent(() => readFileSync(path)) ?? EMPTY_BYTES;
}

/** Returns once the content is durable. Runs off this thread: writing megabytes takes longer than a block may wait. */
async function appendSynced(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
