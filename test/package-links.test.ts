import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  files: readonly string[];
};

test("every relative link of README.md leads to a file of the npm package", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => normalize(link!));
  assert.ok(links.length > 0);
  for (const link of links) {
    assert.ok(existsSync(join(root, link)), `${link} does not exist`);
    assert.ok(
      files.some((file) => link === file || link.startsWith(`${file}/`)),
      `${link} is not in the package`,
    );
  }
});
