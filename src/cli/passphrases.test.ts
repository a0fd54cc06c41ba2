import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { mock, test } from "node:test";
import { openPassphrases } from "./passphrases.ts";

/** A terminal whose user types `keys`, one entry for each prompt. */
function terminal(...keys: string[]) {
  const setRawMode = mock.fn((_mode: boolean) => {});
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  let shown = "";
  const stderr = new PassThrough().on("data", (chunk) => {
    shown += chunk;
    if (String(chunk).endsWith(": ")) setImmediate(() => stdin.write(keys.shift() ?? "\x04"));
  });
  const source = openPassphrases(undefined, { stdin, stderr });
  const modes = () => setRawMode.mock.calls.map(({ arguments: [mode] }) => mode);
  return { source, shown: () => shown, modes };
}

test("a prompt hides what is typed, takes backspace, and gives the terminal back", async () => {
  const { source, shown, modes } = terminal("secrex\x7ft é\r");
  assert.equal(await source.existing("Passphrase"), "secret é");
  assert.equal(shown(), "Passphrase: \n");
  assert.deepEqual(modes(), [true, false]);
});

test("a chosen passphrase is asked for twice, and both have to agree", async () => {
  assert.equal(await terminal("abc\n", "abc\n").source.chosen("New"), "abc");
  await assert.rejects(terminal("abc\n", "abd\n").source.chosen("New"), { code: "CLI_FAILED" });
});

test("what is typed ahead belongs to the next prompt", async () => {
  const { source } = terminal("one\ntwo\n", "");
  assert.equal(await source.existing("First"), "one");
  assert.equal(await source.existing("Second"), "two");
});

test("Ctrl-C at a prompt interrupts and gives the terminal back", async () => {
  const { source, modes } = terminal("half\x03");
  await assert.rejects(source.existing("Passphrase"), { code: "CLI_INTERRUPTED" });
  assert.deepEqual(modes(), [true, false]);
});

test("lines come in the order they are asked for, and a missing one is an error of use", async () => {
  const stdin = new PassThrough();
  stdin.end("first \r\n\r\n");
  const source = openPassphrases(undefined, { stdin, stderr: new PassThrough() });
  assert.equal(await source.existing("One"), "first ");
  assert.equal(await source.chosen("Two"), "");
  await assert.rejects(source.existing("Three"), { code: "CLI_USAGE" });
  const missing = openPassphrases("/nonexistent", { stdin, stderr: new PassThrough() });
  await assert.rejects(missing.existing("One"), { code: "CLI_USAGE" });
});
