import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import type { LogRecord } from "./output.ts";
import { LogRelay } from "./output.ts";

const record = (level: LogRecord["level"]): LogRecord => ({
  level,
  module: "p2p",
  message: "Stopping peer for error",
  fields: { err: "x" },
});

test("errors that peers cause fill the log no faster than some lines a second, and are counted", () => {
  let now = 0;
  const warnings: unknown[] = [];
  let debugs = 0;
  const log = {
    ...SILENT_LOGGER,
    warn: (_: string, data?: object) => void warnings.push(data),
    debug: () => void debugs++,
  };
  const relay = new LogRelay(log, () => now);
  for (let i = 0; i < 1_000; i++) relay.record(record("error"));
  assert.equal(warnings.length, 20);
  assert.equal(debugs, 980);
  now = 10_000;
  relay.record(record("error"));
  assert.deepEqual(warnings.slice(20), [{ left: 980 }, { err: "x", module: "p2p" }]);
  for (let i = 0; i < 1_000; i++) relay.record(record("info"));
  assert.equal(warnings.length, 22);
});

test("the end of a connection with a neighbour that restarts is no warning, and any other error of a peer is", () => {
  const levels: string[] = [];
  const log = { ...SILENT_LOGGER, warn: () => void levels.push("warn"), info: () => void levels.push("info") };
  const relay = new LogRelay(log, () => 0);
  const levelOf = (message: string, err: string) => {
    relay.record({ ...record("error"), message, fields: { err } });
    return levels.pop();
  };
  const peer = "Stopping peer for error";
  for (const [message, err] of [
    [peer, "EOF"],
    [peer, "read tcp 127.0.0.1:48644->127.0.0.1:26656: read: connection reset by peer"],
    [peer, "write tcp 127.0.0.1:26656->127.0.0.1:48644: write: broken pipe"],
    [peer, "read tcp 127.0.0.1:48644->127.0.0.1:26656: use of closed network connection"],
    ["Error stopping pool", "already stopped"],
    ["Error serving server", "accept unix /home/rpc.sock: use of closed network connection"],
  ] as const) {
    assert.equal(levelOf(message, err), "info", err);
  }
  for (const err of ["pong timeout", "peer sent EOF", "EOF\nEOF", "invalid message: EOF"]) {
    assert.equal(levelOf(peer, err), "warn", err);
  }
  assert.equal(levelOf("Error serving server", "accept tcp 1.2.3.4:1: too many open files"), "warn");
});
