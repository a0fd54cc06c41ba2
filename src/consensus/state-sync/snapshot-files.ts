import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { makeFolder } from "../../storage/make-folder.ts";
import { replaceFile } from "../../storage/replace-file.ts";
import type { Snapshot } from "../application.ts";
import { describeSnapshot, SNAPSHOT_FORMAT } from "./snapshot-format.ts";

/** Snapshots of this node: a peer that fetches the older one can finish while the next is written. */
const SNAPSHOTS_KEPT = 2;

/** A folder whose name is a number is a whole snapshot. */
const HEIGHT = /^\d{1,15}$/;
const UNFINISHED = "unfinished";

/** The snapshots of a node: a folder for each height, with a file for each chunk and their hashes in `metadata`. */
export class SnapshotFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Newest first. */
  list(): readonly Snapshot[] {
    return this.#heights().map((height) => {
      const metadata = readFileSync(join(this.#folder(height), "metadata"));
      const hashes = Array.from({ length: metadata.length / 32 }, (_, index) =>
        metadata.subarray(index * 32, (index + 1) * 32),
      );
      return describeSnapshot(height, hashes);
    });
  }

  /** Empty where there is none. */
  chunk(height: number, format: number, index: number): Uint8Array {
    if (format !== SNAPSHOT_FORMAT || !this.#heights().includes(height)) return EMPTY_BYTES;
    try {
      return readFileSync(join(this.#folder(height), String(index)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY_BYTES;
      throw error;
    }
  }

  /** Stores a snapshot and removes the oldest; one that fails leaves nothing. Bytes written. */
  async write(height: number, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const unfinished = join(this.#directory, UNFINISHED);
    rmSync(unfinished, { recursive: true, force: true });
    makeFolder(unfinished);
    let bytes = 0;
    try {
      const hashes: Uint8Array[] = [];
      for await (const chunk of chunks) {
        writeFileSync(join(unfinished, String(hashes.length)), chunk, { mode: 0o600 });
        hashes.push(keccak256(chunk));
        bytes += chunk.length;
      }
      const { metadata } = describeSnapshot(height, hashes);
      replaceFile(join(unfinished, "metadata"), metadata, 0o600);
      rmSync(this.#folder(height), { recursive: true, force: true });
      renameSync(unfinished, this.#folder(height));
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw error;
    }
    for (const old of this.#heights().slice(SNAPSHOTS_KEPT)) {
      rmSync(this.#folder(old), { recursive: true, force: true });
    }
    return bytes;
  }

  #folder(height: number): string {
    return join(this.#directory, String(height));
  }

  /** Newest first. */
  #heights(): readonly number[] {
    let names: readonly string[];
    try {
      names = readdirSync(this.#directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
    return names
      .filter((name) => HEIGHT.test(name))
      .map(Number)
      .sort((a, b) => b - a);
  }
}
