import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fakeContext } from "../../test/support/cli/fake-context.ts";
import { runCli } from "./program.ts";

async function scriptFor(shell: string) {
  const { context, output } = fakeContext();
  return { code: await runCli(["completion", shell], context), ...output };
}

const hasBash = spawnSync("bash", ["--version"]).status === 0;

/** What bash offers after `words`, of which the last is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await scriptFor("bash");
  const line = ["evmintd", ...words].map((word) => `'${word}'`).join(" ");
  const run = `${stdout}COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _evmintd; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout: printed, stderr } = spawnSync("bash", ["-c", run], { encoding: "utf8" });
  assert.equal(stderr, "");
  return printed.trim().split("\n");
}

test("bash completes commands, subcommands and flags", {
  skip: !hasBash && "no bash",
}, async () => {
  assert.deepEqual(await offered("rein"), ["reindex"]);
  assert.deepEqual((await offered("db", ""))[0], "check");
  assert.ok((await offered("db", "check", "--ho")).includes("--home"));
  assert.ok((await offered("start", "--de")).includes("--dev"));
  assert.ok((await offered("start", "--home", "/tmp", "--po")).includes("--port"));
});

test("zsh and fish have scripts, other shells an error", async () => {
  assert.match((await scriptFor("zsh")).stdout, /^autoload .*bashcompinit/);
  const { stdout } = await scriptFor("fish");
  assert.ok(stdout.includes('complete -c evmintd -n "__fish_use_subcommand" -f -a start\n'));
  assert.ok(stdout.includes("-l dev\n"));
  assert.equal((await scriptFor("tcsh")).code, 2);
});
