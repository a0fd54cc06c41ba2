/** Writes the files of `dist/pages/`: what browsers get from the node, those that gain from it compressed. See ADR 86. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
  txt: "text/plain; charset=utf-8",
};

/** Compressing saves nothing below one packet. */
const COMPRESSED_BYTES_MIN = 1024;

/**
 * Writes `pages` and a table of them that `src/web/pages/` serves.
 *
 * @param outdir `dist/pages`
 * @param name of the table, and of the setting group that opens it: `explorer`, `docs`
 * @param pages `path` as in the URL (a folder ends with a slash), `content` text or bytes, `isHashed` when the path changes
 *   with the content, `runsWasm` when its scripts make WebAssembly; in place of the content a `file` that is built already, below `outdir`
 *   or beside it
 * @returns bytes of all written pages, as they are and compressed
 */
export function writePages(outdir, name, pages) {
  const table = {};
  const sizes = { identity: 0, gzip: 0 };
  for (const { path, content, file: built, isHashed = false, runsWasm = false } of pages) {
    const file = built ?? `${path.slice(1)}${path.endsWith("/") ? "index.html" : ""}`;
    const type = TYPES[file.slice(file.lastIndexOf(".") + 1)];
    if (type === undefined) throw new Error(`${path}: no content type for this extension`);
    const bytes = built ? readFileSync(join(outdir, built)) : Buffer.from(content);
    const etag = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    if (built) {
      table[path] = { file, type, etag, isHashed, runsWasm, isGzipped: false };
      continue;
    }
    const isGzipped = bytes.length >= COMPRESSED_BYTES_MIN;
    const stored = isGzipped ? gzipSync(bytes, { level: 9 }) : bytes;
    const storedFile = isGzipped ? `${file}.gz` : file;
    mkdirSync(dirname(join(outdir, file)), { recursive: true });
    writeFileSync(join(outdir, storedFile), stored);
    table[path] = { file: storedFile, type, etag, isHashed, runsWasm, isGzipped };
    sizes.identity += bytes.length;
    sizes.gzip += stored.length;
  }
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, `${name}.json`), `${JSON.stringify(table, undefined, 1)}\n`);
  return sizes;
}
