import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../storage/make-folder.ts";
import { replaceFile } from "../storage/replace-file.ts";
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
  makeFolder(dirname(path));
  replaceFile(path, text, 0o644);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
