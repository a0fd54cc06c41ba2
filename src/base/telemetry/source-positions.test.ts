import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { callSiteOf } from "./log-rules.ts";
import { createSourcePositions } from "./source-positions.ts";

let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "evmint-positions-"));
  writeFileSync(join(folder, "thrower.ts"), "\n\nexport const stack = () => new Error().stack!;\n");
  writeFileSync(
    join(folder, "entry.ts"),
    'import { stack } from "./thrower.ts";\n\n\n\nexport const found: string = stack();\n',
  );
  await build({
    entryPoints: [join(folder, "entry.ts")],
    outfile: join(folder, "bundle.mjs"),
    bundle: true,
    format: "esm",
    sourcemap: "linked",
    sourcesContent: false,
  });
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("a frame of a bundled file has its file and line in the sources", async () => {
  const { found } = (await import(join(folder, "bundle.mjs"))) as { found: string };
  const site = callSiteOf(found, createSourcePositions());
  assert.deepEqual([site?.file.replace(/^.*\//, ""), site?.line], ["thrower.ts", 3]);
});

test("a position in a file without a source map stays as it is", () => {
  const position = { file: join(folder, "entry.ts"), line: 3, column: 1 };
  assert.deepEqual(createSourcePositions()(position), position);
});
