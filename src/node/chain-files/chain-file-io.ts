import { createReadStream, readSync, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { openRegularFile } from "../../store/storage/read-file.ts";

const READ_BYTES = 1 << 20;

/** The content of a chain file, unpacked. */
type ChainFileContent = {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Bytes of the file read so far, as stored. */
  readonly bytesRead: () => number;
  readonly close: () => void;
};

/** @throws UnusableFileError, and errors of the file system */
export async function openChainFile(path: string): Promise<ChainFileContent> {
  const { fd } = openRegularFile(path, { bytesMax: Number.MAX_SAFE_INTEGER });
  const isPacked = isGzipped(fd);
  const file = createReadStream(path, { fd, start: 0, highWaterMark: READ_BYTES });
  const source = isPacked ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => source.destroy(error));
  return {
    chunks: source,
    bytesRead: () => file.bytesRead,
    // The file would stay open if the reader of the unpacked stream stops early.
    close: () => void file.destroy(),
  };
}

export function chainFileSize(path: string): number {
  return statSync(path).size;
}

/** Writes encoded blocks to the file at `path`, which must not exist, and syncs it; removes the file if writing fails. */
export async function writeChainFile(
  path: string,
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const file = (await open(path, "wx", 0o644)).createWriteStream({ flush: true });
  try {
    if (path.endsWith(".gz")) await pipeline(blocks, createGzip(), file);
    else await pipeline(blocks, file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function isGzipped(fd: number): boolean {
  const start = Buffer.alloc(2);
  readSync(fd, start, 0, start.length, 0);
  return start[0] === 0x1f && start[1] === 0x8b;
}
