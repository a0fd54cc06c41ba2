import { statfsSync } from "node:fs";

/** A disk that takes 1.2 GB/s needs as long to write `FREE_BYTES_MIN`. */
const READ_EVERY_MS = 50;

/** Free bytes of the disk that holds `directory`. Each block asks for it, several thousand times a second in an import. */
export function createFreeSpaceReader(
  directory: string,
  now: () => number = () => performance.now(),
): () => number {
  let readAt = Number.NEGATIVE_INFINITY;
  let freeBytes = 0;
  return () => {
    const time = now();
    if (time - readAt >= READ_EVERY_MS) {
      const { bavail, bsize } = statfsSync(directory);
      freeBytes = bavail * bsize;
      readAt = time;
    }
    return freeBytes;
  };
}
