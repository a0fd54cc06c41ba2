import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setInAppToml } from "./app-toml.ts";
import { appTomlPath } from "./home.ts";
import { OPTIONS } from "./schema.ts";

/**
 * Sets `key` in the home's `app.toml`, which is made if there is none; comments and everything else stay. A crash leaves the old file
 * or the new one.
 */
export function editAppToml(home: string, key: string, value: unknown): void {
  const option = OPTIONS.find((each) => each.key === key)!;
  const path = appTomlPath(home);
  const text = setInAppToml(readText(path), key, option.type.print(value));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), ".app.toml.tmp");
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", 0o644);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
