import type * as Replaced from "../../../node/chain-files/chain-file-io.ts";
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "../platform/fs.ts";

/** Chain files among this thread's files. The stored bytes are in memory while a file is read. */
export const openChainFile: typeof Replaced.openChainFile = async (path) => {
  const stored = readFileSync(path);
  const isGzipped = stored[0] === 0x1f && stored[1] === 0x8b;
  const { body } = new Response(stored as Uint8Array<ArrayBuffer>);
  return {
    chunks: isGzipped ? body!.pipeThrough(new DecompressionStream("gzip")) : body!,
    bytesRead: () => stored.length,
    close() {},
  };
};

export const chainFileSize: typeof Replaced.chainFileSize = (path) => statSync(path).size;

export const writeChainFile: typeof Replaced.writeChainFile = async (path, blocks) => {
  const fd = openSync(path, "wx");
  try {
    if (path.endsWith(".gz")) {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for await (const block of blocks) parts.push(block as Uint8Array<ArrayBuffer>);
      const packed = new Blob(parts).stream().pipeThrough(new CompressionStream("gzip"));
      for await (const chunk of packed) writeSync(fd, chunk);
    } else for await (const block of blocks) writeSync(fd, block);
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
};
