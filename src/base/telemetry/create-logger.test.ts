import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger, type LoggerOptions } from "./create-logger.ts";

function recorder(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    write: (line) => lines.push(line),
    now: () => 0,
    ...options,
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1)!) };
}

test("a line in JSON form holds time, level, module, message and data", () => {
  const { log, last } = recorder();
  log.child("chain", { chainId: 1n }).info("block imported", { number: 7 });
  assert.deepEqual(last(), {
    time: "1970-01-01T00:00:00.000Z",
    level: "info",
    module: "chain",
    message: "block imported",
    chainId: "1",
    number: 7,
  });
});

test("data cannot replace the level or the message", () => {
  const { log, last } = recorder();
  log.warn("true message", { message: "forged", level: "info" });
  assert.equal(last().message, "true message");
  assert.equal(last().level, "warn");
});

test("a level below the logger's is not written, and setLevel reaches children made before", () => {
  const { log, lines } = recorder();
  const child = log.child("rpc");
  child.debug("unseen");
  assert.equal(lines.length, 0);
  assert.equal(child.enabled("debug"), false);
  log.setLevel("debug");
  child.debug("seen");
  assert.equal(lines.length, 1);
  log.setLevel("silent");
  child.error("unseen");
  assert.equal(lines.length, 1);
});

test("values under the name of a secret are never written, at any depth", () => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = recorder({ format });
    log.info("request", {
      password: "hunter2",
      nested: { privateKey: "hunter2", private_key: "hunter2", list: [{ jwt: "hunter2" }] },
      newPassphrase: "hunter2",
      authorization: "Bearer hunter2",
    });
    assert.ok(!lines.join().includes("hunter2"), lines.join());
  }
});

test("control characters in text form cannot forge a line", () => {
  const { log, lines } = recorder({ format: "text" });
  log.info("method\ncalled", { "na\u001bme": 1, method: "eth_x\n1970 error forged\u001b[2J" });
  assert.equal(lines.length, 1);
  assert.equal(lines[0]!.indexOf("\n"), lines[0]!.length - 1);
  assert.ok(!lines[0]!.includes("\u001b"));
});

test("a line is bounded whatever its data", () => {
  const data = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, Array(100).fill("x".repeat(5000))]));
  for (const format of ["json", "text"] as const) {
    const { log, lines } = recorder({ format });
    log.info("large", data);
    assert.ok(lines[0]!.length <= 17_000);
    if (format === "json") assert.equal(JSON.parse(lines[0]!).message, "large");
  }
});

test("values JSON does not know are written as text, and a loop in the data ends", () => {
  const { log, last } = recorder();
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  log.info("odd", { big: 2n ** 70n, bytes: Uint8Array.of(1, 255), nan: Number.NaN, loop });
  assert.equal(last().big, "1180591620717411303424");
  assert.equal(last().bytes, "0x01ff");
  assert.equal(last().nan, "NaN");
});

test("an error keeps its code and stack", () => {
  const { log, last } = recorder();
  log.error("failed", { error: Object.assign(new Error("no space"), { code: "ENOSPC" }) });
  assert.equal(last().error.code, "ENOSPC");
  assert.match(last().error.stack, /create-logger\.test/);
});
