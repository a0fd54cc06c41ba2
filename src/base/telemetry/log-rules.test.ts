import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "./create-logger.ts";
import { isCallSite, parseCallSite, parseRules, ruleLevel } from "./log-rules.ts";

function levelOf(text: string, file: string) {
  return ruleLevel(parseRules(text)!, file);
}

test("parseRules names a file, a folder, or folders at any depth", () => {
  assert.equal(levelOf("server.ts=5", "/src/rpc/server/server.ts"), "trace");
  assert.equal(levelOf("server.go=4", "/dist/rpc/server/server.js"), "debug");
  assert.equal(levelOf("server.ts=5", "/src/rpc/http-server.ts"), undefined);
  assert.equal(levelOf("rpc=3", "/src/rpc/methods.ts"), "info");
  assert.equal(levelOf("rpc=3", "/src/rpc/server/server.ts"), undefined);
  assert.equal(levelOf("rpc/*=2", "/src/rpc/server/server.ts"), "warn");
  assert.equal(levelOf("rpc/*=9", "/src/rpc/methods.ts"), "trace");
  assert.equal(levelOf("rpc=0", "/src/rpc/methods.ts"), undefined);
  assert.equal(levelOf("rpc/*=5,server.ts=1", "/src/rpc/server/server.ts"), "error");
  assert.deepEqual(parseRules(""), []);
});

test("parseRules rejects anything but a list of pattern=N", () => {
  for (const wrong of ["rpc", "rpc=", "=3", "rpc=high", "a=1=2", "rpc=3,", ","]) {
    assert.equal(parseRules(wrong), undefined, wrong);
  }
});

test("parseCallSite reads a file and its line", () => {
  assert.deepEqual(parseCallSite("server.ts:443"), { file: "server", line: 443 });
  for (const wrong of ["server.ts", "server:4", "server.ts:0", "server.ts:x", ":4", ""]) {
    assert.equal(parseCallSite(wrong), undefined, wrong);
  }
  const wanted = { file: "server", line: 4 };
  assert.ok(isCallSite({ file: "/a/server.ts", line: 4 }, wanted));
  assert.ok(!isCallSite({ file: "/a/server.ts", line: 5 }, wanted));
  assert.ok(!isCallSite({ file: "/a/http-server.ts", line: 4 }, wanted));
});

function recorder() {
  const lines: { readonly level: string; readonly message: string; readonly stack?: string }[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    write: (line) => lines.push(JSON.parse(line)),
    now: () => 0,
  });
  return { log, lines, messages: () => lines.map(({ message }) => message) };
}

test("a rule replaces the level for lines of its files alone", () => {
  const { log, messages } = recorder();
  const child = log.child("chain");
  child.debug("before");
  assert.ok(log.setFileLevels("log-rules.test.ts=5"));
  assert.ok(child.enabled("trace"));
  child.trace("seen");
  assert.ok(log.setFileLevels("log-rules.test.ts=1"));
  child.info("hidden");
  assert.ok(log.setFileLevels("other.ts=5"));
  child.debug("of another file");
  assert.ok(!log.setFileLevels("other"));
  assert.ok(log.setFileLevels(""));
  child.debug("after");
  assert.ok(!child.enabled("debug"));
  assert.deepEqual(messages(), ["seen"]);
});

test("a line with a backtrace is logged with its stack, at info", () => {
  const { log, lines } = recorder();
  const child = log.child("chain");
  assert.ok(!log.setBacktraceAt("nowhere"));
  const here = /log-rules\.test\.ts:(\d+)/.exec(new Error().stack!)![1]!;
  const say = (): void => child.debug("here");
  assert.ok(log.setBacktraceAt(`log-rules.test.ts:${Number(here) + 1}`));
  say();
  child.debug("elsewhere");
  assert.ok(log.setBacktraceAt(""));
  say();
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [["info", "here"]],
  );
  assert.match(lines[0]!.stack!, /log-rules\.test\.ts/);
});
