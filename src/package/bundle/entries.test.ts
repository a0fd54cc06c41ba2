import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ENTRIES } from "./entries.ts";

test("ENTRIES has every module that a thread or a process runs, by its path", () => {
  const src = fileURLToPath(new URL("../../", import.meta.url));
  const modules = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.(?:thread|process)\.ts$/.test(file))
    .map((file) => file.slice(0, -".ts".length));
  assert.deepEqual(Object.keys(ENTRIES).sort(), modules.sort());
});
