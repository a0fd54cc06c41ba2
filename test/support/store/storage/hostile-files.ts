import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";

/**
 * What somebody can leave at a path in place of a file, by name; each makes one at a path where nothing is. A reader of files from elsewhere must end with
 * an error for each, or pass over it, without waiting and without reading it whole.
 */
export const HOSTILE_FILES: Readonly<Record<string, (path: string) => void>> = {
  "a FIFO": (path) => void execFileSync("mkfifo", [path]),
  "a link to a device without an end": (path) => symlinkSync("/dev/zero", path),
  "a link to a terminal": (path) => symlinkSync("/dev/tty", path),
  "a link to itself": (path) => symlinkSync(path, path),
  "a folder": (path) => mkdirSync(path),
  "a sparse file of 8 TiB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 43);
  },
};

/** Contents that are no file of the node's, by name. */
export const HOSTILE_CONTENTS: Readonly<Record<string, string | Uint8Array>> = {
  nothing: "",
  "bytes that are not UTF-8": Uint8Array.of(0xff, 0xfe, 0x00, 0xc3, 0x28),
  "the beginning of a gzip": Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff),
  null: "null",
  "a number": "1e308",
  "a text": '"text"',
  "a list": "[1]",
  "a list of null": "[null]",
  "half of an object": '{"a":',
  "100,000 lists in each other": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  "100,000 objects in each other": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
};
