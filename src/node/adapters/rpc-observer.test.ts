import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../../base/telemetry/create-logger.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { createRpcObserver } from "./rpc-observer.ts";

function observer() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLogger({ level: "info", format: "json", write });
  return { lines, observer: createRpcObserver(log, createMetrics()) };
}

const adviceFor = (reason: "host" | "origin", subject: string) => {
  const { lines, observer: created } = observer();
  created.rejected("http", reason, subject);
  assert.equal(lines.length, 1);
  return lines[0]!["allowWith"];
};

test("what is rejected is logged with the setting that would admit it", () => {
  assert.equal(adviceFor("host", "Node.example:8545"), "--json-rpc.vhosts node.example");
  const origin = "https://app.example";
  assert.equal(adviceFor("origin", origin), `--json-rpc.cors-origins ${origin}`);
});

test("no advice repeats a text that is neither a host nor an origin", () => {
  for (const text of ["x;$(id)", "x y", "`id`", "--home", "x\u009b", "[::x]", "a".repeat(300)]) {
    assert.equal(adviceFor("host", text), undefined, text);
    assert.equal(adviceFor("origin", `http://${text.replace(/^-+/, "$")}`), undefined, text);
  }
});
