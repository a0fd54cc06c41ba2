import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { filesOf } from "../scripts/site/contents.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  files: readonly string[];
};

/** What the package has as pages alone, which a node serves at `/docs`. */
const PAGES = new Set(filesOf(root));

test("every relative link of README.md leads to a file of the npm package, or to one of its pages", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  // The registry shows pictures from the repository.
  const links = [...text.matchAll(/(?<!!\[[^\]]*)\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => normalize(link!));
  assert.ok(links.length > 0);
  for (const link of links) {
    assert.ok(existsSync(join(root, link)), `${link} does not exist`);
    assert.ok(
      PAGES.has(link) || files.some((file) => link === file || link.startsWith(`${file}/`)),
      `${link} is not in the package`,
    );
  }
});
