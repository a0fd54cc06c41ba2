import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";
import { PATIENT_ENVIRONMENT, PATIENT_TIMERS } from "../support/patient.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/*
 * The code of the documentation runs as it is there. A block whose fence says `file=NAME` is that file, in a folder of its page; a block of
 * shell lines that says `run` runs after the blocks before it, and so does a script that no such line starts.
 */

const PAGES = ["docs/tutorial.md", "docs/guides/embed.md", "docs/guides/app-chain.md"];
const PACKAGES = ["viem", "ethers", "solc"];
/** The node that a reader starts first. */
const DOCUMENTED_URL = /http:\/\/127\.0\.0\.1:8545/g;

type Block = { readonly file: string | undefined; readonly runs: boolean; readonly text: string };

let node: TestNode;
let folder: string;

before(async () => {
  node = await startTestNode({ dev: true });
  folder = mkdtempSync(join(tmpdir(), "evmint-docs-"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  symlinkSync(ROOT, join(modules, "evmint"));
  symlinkSync(join(ROOT, "bin/evmintd.js"), join(modules, ".bin/evmintd"));
  for (const name of PACKAGES) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
});
after(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const fences = text.matchAll(/^```\w+ (run|file=(\S+))\n(.*?)^```$/gms);
  return [...fences].map(([, mark, file, code = ""]) => ({
    file,
    runs: mark === "run",
    text: code.replace(DOCUMENTED_URL, node.url),
  }));
}

/** What a shell prints for `text`. */
async function runShell(text: string, cwd: string): Promise<string> {
  const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]];
  const shell = spawn("sh", ["-e", "-c", text], {
    cwd,
    env: { PATH: path.join(delimiter), HOME: folder, NODE_OPTIONS: PATIENT_TIMERS, ...PATIENT_ENVIRONMENT },
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => shell.once("close", resolve));
  assert.equal(code, 0, `${text}\n${output}`);
  return output;
}

/** Runs the page from its first block to its last; what they print. */
async function runPage(page: string): Promise<string> {
  const cwd = join(folder, page.replaceAll("/", "-"));
  mkdirSync(cwd);
  const blocks = blocksOf(page);
  assert.ok(blocks.length > 0);
  let output = "";
  for (const { file, runs, text } of blocks) {
    if (file !== undefined) writeFileSync(join(cwd, file), text);
    const isStarted = blocks.some((block) => block.runs && block.text.includes(file ?? ""));
    if (runs) output += await runShell(text, cwd);
    else if (file?.endsWith(".mjs") && !isStarted) output += await runShell(`node ${file}`, cwd);
  }
  return output;
}

test("the tutorial deploys a contract and calls it", async () => {
  const output = await runPage(PAGES[0]!);
  assert.match(output, /"result":"0x7a69"/);
  assert.match(output, /Counter is at 0x[0-9a-f]{40}/);
  assert.match(output, /number is 5\nread from the chain: 5\nPass - Verified\n2\n/);
  assert.match(output, /"type": "CALL"/);
});

test("the examples of the guide to embedding run", async () => {
  const output = await runPage(PAGES[1]!);
  assert.equal(output, `0x7a69\n0x21e19e0c9bab2400000\nsuccess\n0\n2\n`);
});

test("the homes of the guide to own chains are made", async () => {
  const output = await runPage(PAGES[2]!);
  assert.equal(output.match(/4242/g)?.length, 2, output);
});
