import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** vitest brings a hundred packages and is no dependency: `VITEST_DIR` names a folder where it is installed, a newer Node.js beside it or not. */
const folder = process.env["VITEST_DIR"];
const modules = folder && join(folder, "node_modules");
const skip =
  modules && existsSync(join(modules, "vitest")) ? false : "left out: VITEST_DIR names no folder with vitest";
const root = fileURLToPath(new URL("../..", import.meta.url));

const TEST = `
import { chain } from "evmint/vitest";
import { beforeAll, expect, test } from "vitest";
const who = "0x00000000000000000000000000000000000000aa";
const started = await chain.rpc.eth_blockNumber();
beforeAll(() => chain.setBalance(who, 5n));
for (const turn of [1, 2]) {
  test("begins as beforeAll left the chain " + turn, async () => {
    expect(started).toBe("0x0");
    expect(chain.accounts.length).toBe(3);
    expect(await chain.rpc.eth_getBalance(who)).toBe("0x5");
    await chain.setBalance(who, 9n);
    await chain.mine();
  });
}
`;

test("evmint/vitest gives each test file a chain of its own, and each test the chain of its beforeAll", {
  skip,
}, async (context) => {
  const project = mkdtempSync(join(tmpdir(), "evmint-vitest-"));
  context.after(() => rmSync(project, { recursive: true, force: true }));
  const installed = join(project, "node_modules");
  mkdirSync(join(installed, "evmint"), { recursive: true });
  const others = readdirSync(modules!).filter((name) => name !== "evmint" && !name.startsWith("."));
  for (const name of others) symlinkSync(join(modules!, name), join(installed, name));
  for (const part of ["bundle", "plugins"])
    cpSync(join(root, "dist", part), join(installed, "evmint/dist", part), { recursive: true });
  cpSync(join(root, "package.json"), join(installed, "evmint/package.json"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(project, "vitest.config.mjs"),
    `import evmint from "evmint/vitest";
     export default { plugins: [evmint({ restores: true, settings: { "accounts": "3" } })] };`,
  );
  for (const file of ["a", "b"]) writeFileSync(join(project, `${file}.test.mjs`), TEST);
  const newer = join(modules!, "node", "bin", "node");
  const report = join(project, "report.json");
  await promisify(execFile)(
    existsSync(newer) ? newer : process.execPath,
    [join(installed, "vitest/vitest.mjs"), "run", "--reporter=json", `--outputFile=${report}`],
    { cwd: project },
  );
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8")) as Record<string, number>;
  assert.deepEqual([numPassedTests, numFailedTests], [4, 0]);
});
