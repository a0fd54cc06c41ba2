import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { type EngineFault, startEngineProcess } from "./engine-process.ts";
import { faultOfRecord, LastWords, parseLogRecord } from "./output.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A run of a program that writes `stdout` and `stderr` and ends with `status`. */
async function run(output: { stdout?: string; stderr?: string; status?: number }) {
  const { stdout = "", stderr = "", status = 0 } = output;
  const directory = mkdtempSync(join(tmpdir(), "evmint-engine-"));
  folders.push(directory);
  writeFileSync(join(directory, "stdout"), stdout);
  writeFileSync(join(directory, "stderr"), stderr);
  const binary = join(directory, "engine");
  writeFileSync(binary, `#!/bin/sh\ncd "$(dirname "$0")"; cat stdout; cat stderr >&2; exit ${status}\n`);
  chmodSync(binary, 0o755);
  const faults: EngineFault[] = [];
  const process = startEngineProcess(
    { binary, directory, onFault: (fault) => faults.push(fault) },
    { log: STRICT_LOGGER, timers: fatalTimers },
  );
  const exit = await process.exited;
  return { faults, exit };
}

const REPLAY = "failed to create node: error during handshake: error on replay: ";
const AHEAD = "app block height (9) is higher than core (1)";
const BEHIND = "app block height (3) is too far below block store base (9)";
/** Everything that CometBFT writes and a decision was ever taken from, alone and as it is written. */
const FAULT_TEXTS = [
  "CONSENSUS FAILURE!!!",
  "CONSENSUS FAILURE",
  "State sync failed",
  "Failed to bootstrap node with new state",
  "no space left on device",
  "block time 2030-01-01 is too far in the future (wall clock 2026-01-01 + tolerance 1m0s)",
  "panic: runtime error",
  "fatal error: all goroutines are asleep",
  AHEAD,
  BEHIND,
  `${REPLAY}${AHEAD}`,
  `ERROR: ${REPLAY}${AHEAD}`,
  `ERROR: ${REPLAY}${BEHIND}`,
  '{"level":"error","module":"consensus","_msg":"CONSENSUS FAILURE!!!","err":"x"}',
  '{"level":"error","module":"statesync","_msg":"State sync failed"}',
  "don't have header #12",
  "+2/3 committed an invalid block: don't have header #12",
  `{"level":"error","module":"blocksync","_msg":"Error in validation","err":"don't have header #12"}`,
];

/** What a peer can make of a text. */
const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "on a line of its own": (text) => `x\n${text}\n`,
  "after every kind of line break": (text) => `\r\n${text}\u2028${text}\u0085${text}\v${text}`,
  "beyond the end of a JSON member": (text) => `","_msg":"${text}","level":"error"}\n{"err":"${text}`,
  "with escapes": (text) => `\\n${JSON.stringify(text)}\\u000a\u001b[2K\r${text}`,
  "after as much as a peer can send": (text) => `${"x".repeat(10_000)}\n${text}`,
  "beyond the longest line": (text) => `${"x".repeat(64 << 10)}\n${text}\n`,
  "in the words of a clock": (text) => `${"block time ahead ".repeat(600)}${text}`,
};

/** The records that quote a peer, by the module and message of CometBFT v0.40; evidence/reactor.go logs the text as the message. */
const QUOTING: Readonly<Record<string, (text: string) => object>> = {
  moniker: (moniker) => ({
    level: "info",
    module: "main",
    _msg: "Started node",
    nodeInfo: { moniker, network: moniker, other: { rpc_address: moniker } },
  }),
  network: (text) => ({
    level: "info",
    module: "p2p",
    _msg: "Inbound Peer rejected",
    err: `auth failure: peer is on a different network. Got ${text}, expected evmint-1`,
  }),
  err: (err) => ({
    level: "error",
    module: "consensus",
    _msg: "Stopping peer for error",
    err,
    peer: err,
    src: [[err]],
    error: { err },
  }),
  "the message of evidence": (_msg) => ({ level: "error", module: "evidence", _msg }),
  "a module of a text": (module) => ({ level: "error", module, _msg: "CONSENSUS FAILURE!!!" }),
  "a stack": (stack) => ({ level: "error", module: "rpc", _msg: "panic in handler", stack }),
  "a record of no level": (err) => ({ module: "consensus", _msg: "CONSENSUS FAILURE!!!", err }),
  "a record of another level": (err) => ({
    level: "info",
    module: "consensus",
    _msg: "CONSENSUS FAILURE!!!",
    err,
  }),
  "nested records": (text) => ({
    level: "error",
    module: "p2p",
    _msg: ["CONSENSUS FAILURE!!!"],
    fields: { level: "error", module: "consensus", _msg: "CONSENSUS FAILURE!!!", err: text },
  }),
  "a member of every name": (text) => ({
    level: "error",
    module: "p2p",
    _msg: "x",
    __proto__: { level: text },
    ...Object.fromEntries(
      ["fault", "kind", "text", "constructor", "toString", "ts", "message", "_msg2"].map((name) => [name, text]),
    ),
  }),
};

for (const [member, recordOf] of Object.entries(QUOTING)) {
  test(`no text of a peer in ${member} is a fault of the engine`, async () => {
    const lines = FAULT_TEXTS.flatMap((text) =>
      Object.values(DISGUISES).map((disguise) => JSON.stringify(recordOf(disguise(text)))),
    );
    const { faults, exit } = await run({ stdout: `${lines.join("\n")}\n` });
    assert.deepEqual(faults, []);
    assert.equal(exit.fault, undefined);
  });
}

test("lines of the log that are no records are no faults, whatever they say", async () => {
  const lines = FAULT_TEXTS.flatMap((text) => Object.values(DISGUISES).map((disguise) => disguise(text))).filter(
    (text) => !/^\{/m.test(text),
  );
  const deep = "[".repeat(60_000);
  const stdout = [...lines, deep, '{"level":"error"', "null", "7", '"CONSENSUS FAILURE!!!"'];
  for (const status of [0, 1, 2]) {
    const { faults, exit } = await run({ stdout: stdout.join("\n"), status });
    assert.deepEqual(faults, []);
    assert.equal(exit.fault?.kind, status === 2 ? "consensusFailure" : undefined);
  }
});

test("a state sync server's text in the last words is not a fault", () => {
  for (const text of FAULT_TEXTS) {
    for (const disguise of Object.values(DISGUISES)) {
      const words = new LastWords();
      const line = `ERROR: failed to start node: failed to set up light client: ${disguise(text)}`;
      for (const each of line.split("\n")) words.add(each);
      for (const status of [0, 1, null]) assert.equal(words.faultOf(status), undefined, line);
    }
  }
});

test("the words of a process are a fault only at its end, alone, with its status", async () => {
  const words = `ERROR: ${REPLAY}${AHEAD}\n`;
  const faultOf = async (stderr: string, status: number) => (await run({ stderr, status })).exit.fault;
  const fault = { kind: "applicationAhead", storeHeight: 1 };
  assert.deepEqual(await faultOf(words, 1), fault);
  for (const status of [0, 3, 143]) assert.equal(await faultOf(words, status), undefined);
  assert.equal(await faultOf(`${words}${words}`, 1), undefined);
  assert.equal(await faultOf(`${words}goroutine 1\n`, 1), undefined);
  assert.equal(await faultOf(`ERROR: other\n${words}`, 1), undefined);
  assert.equal(await faultOf(`ERROR: ${REPLAY}${AHEAD} \n`, 1), undefined);
  assert.equal(await faultOf(`ERROR: ${REPLAY}x ${AHEAD}\n`, 1), undefined);
  const behind = { kind: "applicationBehind", height: 3, storeBase: 9 };
  assert.deepEqual(await faultOf(`ERROR: ${REPLAY}${BEHIND}\n`, 1), behind);
  const signer =
    "ERROR: failed to create node: error with private validator socket client: can't get pubkey: send: endpoint connection timed out";
  assert.deepEqual(await faultOf(`${signer}\n`, 1), { kind: "signerMissing" });
  assert.equal(await faultOf(`${signer} \n`, 1), undefined);
});

test("a panic is a fault by its exit status", async () => {
  const stderr = "panic: +2/3 prevoted for an invalid block\n\ngoroutine 7 [running]:\n";
  const text = "panic: +2/3 prevoted for an invalid block";
  assert.deepEqual((await run({ stderr, status: 2 })).exit.fault, {
    kind: "consensusFailure",
    text,
  });
  assert.equal((await run({ stderr, status: 0 })).exit.fault, undefined);
});

test("the records of CometBFT v0.40 that are faults are recognised, and the first one stays", async () => {
  const failure = { level: "error", module: "consensus", _msg: "CONSENSUS FAILURE!!!", err: "why" };
  const sync = { level: "error", module: "statesync", _msg: "State sync failed", err: "none" };
  const kindOf = (record: object) => faultOfRecord(parseLogRecord(JSON.stringify(record))!)?.kind;
  assert.equal(kindOf(failure), "consensusFailure");
  assert.equal(kindOf(sync), "stateSyncFailed");
  const stdout = [failure, sync, failure].map((record) => JSON.stringify(record)).join("\n");
  const stderr = `ERROR: ${REPLAY}${AHEAD}\n`;
  const { faults, exit } = await run({ stdout, stderr, status: 1 });
  assert.deepEqual(faults, [{ kind: "consensusFailure", text: "why" }]);
  assert.deepEqual(exit.fault, faults[0]);
});

/** The fault of a line of level error. */
const kindOf = (record: object) => faultOfRecord(parseLogRecord(JSON.stringify({ level: "error", ...record }))!)?.kind;

test("evidence about a block before the store is a fault where a block that the network decided has it", () => {
  const missing = "don't have header #12";
  const validation = { module: "blocksync", _msg: "Error in validation", height: 13 };
  const failure = { module: "consensus", _msg: "CONSENSUS FAILURE!!!" };
  assert.equal(kindOf({ ...validation, err: missing }), "evidenceBeforeStore");
  for (const step of ["precommit step; +2/3 prevoted for", "+2/3 committed"]) {
    assert.equal(kindOf({ ...failure, err: `${step} an invalid block: ${missing}` }), "evidenceBeforeStore");
  }
  for (const text of ["", `x ${missing}`, `${missing} `, `${missing}\n`, `${missing}\n${missing}`]) {
    assert.equal(kindOf({ ...validation, err: text }), undefined);
    assert.equal(kindOf({ ...failure, err: text }), "consensusFailure");
  }
  for (const module of ["evidence", "p2p", "consensus"]) {
    assert.equal(kindOf({ ...validation, module, err: missing }), undefined);
  }
});

test("a block that the network decided on another state is a fault in block sync too", () => {
  const validation = { module: "blocksync", _msg: "Error in validation", height: 13 };
  const errors = [
    `wrong Block.Header.AppHash.  Expected ${"AB".repeat(32)}, got ${"CD".repeat(32)}`,
    "wrong Block.Header.Version. Expected {11 1}, got {11 2}",
  ];
  for (const err of errors) {
    assert.equal(kindOf({ ...validation, err }), "consensusFailure");
    assert.equal(kindOf({ ...validation, module: "p2p", err }), undefined);
    assert.equal(kindOf({ ...validation, err: `invalid commit: ${err}` }), undefined);
  }
  // The commit was not verified yet.
  assert.equal(kindOf({ ...validation, err: "invalid commit -- wrong block ID: want x, got y" }), undefined);
});

test("reading a line takes time in proportion to its length", () => {
  // A quadratic search of it takes more than an hour, which this test does not end in.
  const hostile = "block time ahead ".repeat(400_000);
  const line = JSON.stringify({ level: "info", module: "p2p", _msg: "x", err: hostile });
  assert.equal(faultOfRecord(parseLogRecord(line)!), undefined);
  const words = new LastWords();
  words.add(`ERROR: ${hostile}`);
  assert.equal(words.faultOf(1), undefined);
});
