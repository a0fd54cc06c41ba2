import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { AbciClient } from "../../../test/support/consensus/cometbft/abci-client.ts";
import { openTestApplication } from "../../../test/support/consensus/test-application.ts";
import { hashFromBigint, hashToBytes } from "../../base/primitives/hash.ts";
import type { Restore } from "../state-sync/restore.ts";
import { createAbciHandlers } from "./abci/handlers.ts";
import type { EngineExit, EngineFault, EngineProcess } from "./process/engine-process.ts";
import { faultOfRecord, parseLogRecord } from "./process/output.ts";
import { type SyncedEngine, syncState } from "./state-sync.ts";

const APP_HASH = hashFromBigint(7n);
const SNAPSHOT = {
  height: 5n,
  format: 1,
  chunks: 2,
  hash: new Uint8Array(32),
  metadata: new Uint8Array(64),
};
const FAILED = '{"level":"error","module":"statesync","_msg":"State sync failed","err":"no snapshots"}';

const folders: string[] = [];
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Accepts two chunks, once nothing is in `failures`. */
function fakeRestore(): Restore & { readonly calls: string[]; readonly failures: Error[] } {
  const calls: string[] = [];
  const failures: Error[] = [];
  let restored: ReturnType<Restore["restored"]>;
  return {
    calls,
    failures,
    restored: () => restored,
    info: () => ({ height: restored?.height ?? 0, appHash: APP_HASH, appVersion: 1 }),
    offerSnapshot({ height }, appHash) {
      calls.push(`offer ${height} ${appHash}`);
      return "accept";
    },
    async applySnapshotChunk(index) {
      calls.push(`apply ${index}`);
      const failure = failures.shift();
      if (failure) throw failure;
      if (index === 1) restored = { height: 5, appHash: APP_HASH };
      return { result: "accept", refetchChunks: [], rejectSenders: [] };
    },
  };
}

/** A process whose log the test writes; it ends when it is stopped. */
function fakeProcess(onFault: (fault: EngineFault) => void) {
  let end: (exit: EngineExit) => void = () => {};
  const exited = new Promise<EngineExit>((resolve) => {
    end = resolve;
  });
  const stops: number[] = [];
  const run: EngineProcess = {
    pid: 1,
    exited,
    async stop(graceMs) {
      stops.push(graceMs);
      end({ code: 0, signal: null, fault: undefined });
    },
  };
  return { run, stops, log: (line: string) => onFault(faultOfRecord(parseLogRecord(line)!)!) };
}

function setup({ attemptsMax = 3, stallMs = 30_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "evmint-session-"));
  folders.push(folder);
  const path = join(folder, "abci.sock");
  const restore = fakeRestore();
  const runs: ReturnType<typeof fakeProcess>[] = [];
  const timers = new ManualTimers();
  let started: (run: ReturnType<typeof fakeProcess>) => void = () => {};
  /** The next run of CometBFT. */
  const nextRun = () =>
    new Promise<ReturnType<typeof fakeProcess>>((resolve) => {
      started = resolve;
    });
  const firstRun = nextRun();
  const synced = syncState(
    { abciSocket: path, version: "1", attemptsMax, stallMs, peers: { refusal: () => undefined } },
    {
      restore,
      log: STRICT_LOGGER,
      start(onFault) {
        const process = fakeProcess(onFault);
        runs.push(process);
        started(process);
        return process.run;
      },
      timers,
    },
  );
  synced.then(
    (engine) => open.push(engine),
    () => {},
  );
  return { path, restore, runs, timers, firstRun, nextRun, synced };
}

/** What CometBFT does up to the first block. */
async function restoreOver(path: string): Promise<AbciClient> {
  const client = await AbciClient.open(path);
  open.push(client);
  const { result } = await client.call("offerSnapshot", {
    snapshot: SNAPSHOT,
    appHash: hashToBytes(APP_HASH),
  });
  assert.equal(result, 1);
  for (const index of [0, 1]) {
    const applied = await client.call("applySnapshotChunk", { index, chunk: new Uint8Array(1) });
    assert.equal(applied.result, 1);
  }
  return client;
}

test("state sync ends with the info call after the last chunk; the first block waits for the application", async () => {
  const { path, restore, firstRun, synced } = setup();
  await firstRun;
  const client = await restoreOver(path);
  const info = await client.call("info");
  assert.equal(info.lastBlockHeight, 5n);
  assert.deepEqual(Buffer.from(info.lastBlockAppHash), Buffer.from(hashToBytes(APP_HASH)));
  const engine: SyncedEngine = await synced;
  assert.deepEqual(restore.calls, [`offer 5 ${APP_HASH}`, "apply 0", "apply 1"]);

  let isAnswered = false;
  const waiting = client.call("insertTx", { tx: new Uint8Array() }).then((reply) => {
    isAnswered = true;
    return reply;
  });
  // A call on another connection is answered, so the first one had its turn.
  const other = await AbciClient.open(path);
  open.push(other);
  await other.call("info");
  assert.equal(isAnswered, false);

  const { application } = openTestApplication();
  const lost: string[] = [];
  engine.attach({
    handlers: createAbciHandlers({ version: "1", initialHeight: 1 }, application),
    onEngineLost: () => lost.push("lost"),
    onFailure: (error) => assert.fail(String(error)),
  });
  assert.equal((await waiting).code, 1);
  assert.equal((await other.call("info")).lastBlockHeight, 0n);
});

test("faults of the adopted process go to its new owner", async () => {
  const { path, firstRun, synced } = setup();
  const process = await firstRun;
  const client = await restoreOver(path);
  await client.call("info");
  const faults: EngineFault[] = [];
  const adopted = (await synced).adopt((fault) => faults.push(fault));
  process.log('{"level":"error","module":"consensus","_msg":"CONSENSUS FAILURE!!!","err":"x"}');
  assert.deepEqual(
    faults.map(({ kind }) => kind),
    ["consensusFailure"],
  );
  assert.equal(adopted, process.run);
  assert.deepEqual(process.stops, []);
});

test("a fault between the restored snapshot and the new owner is not lost", async () => {
  const { path, firstRun, synced } = setup();
  const process = await firstRun;
  const client = await restoreOver(path);
  await client.call("info");
  const engine = await synced;
  process.log('{"level":"error","module":"statesync","_msg":"Failed to bootstrap node with new state","err":"x"}');
  const faults: EngineFault[] = [];
  engine.adopt((fault) => faults.push(fault));
  assert.deepEqual(faults, []);
  await setImmediate();
  assert.deepEqual(
    faults.map(({ kind }) => kind),
    ["stateSyncFailed"],
  );
});

test("a run that fails is ended and followed by another one, later each time, and then given up", async () => {
  const { firstRun, nextRun, runs, timers, synced } = setup({ attemptsMax: 3 });
  let process = await firstRun;
  for (let run = 1; run <= 3; run++) {
    const next = nextRun();
    process.log(FAILED);
    if (run === 3) break;
    const pauseMs = 1_000 * run;
    assert.equal((await timers.scheduled("sleep")).inMs, pauseMs);
    await timers.advance(pauseMs - 1);
    assert.equal(runs.length, run);
    await timers.advance(1);
    process = await next;
  }
  await assert.rejects(synced, { code: "ENGINE_STATE_SYNC" });
  assert.equal(runs.length, 3);
  assert.deepEqual(
    runs.map(({ stops }) => stops.length),
    [1, 1, 1],
  );
});

test("a process that ends before a snapshot is restored is started again", async () => {
  const { path, timers, firstRun, nextRun, synced } = setup();
  const process = await firstRun;
  const next = nextRun();
  await process.run.stop(0);
  await timers.scheduled("sleep");
  await timers.advance(1_000);
  await next;
  const client = await restoreOver(path);
  await client.call("info");
  await synced;
});

test("a chunk that cannot be judged ends the connection of CometBFT, and its next run restores", async () => {
  const { path, restore, timers, firstRun, nextRun, synced } = setup();
  const process = await firstRun;
  restore.failures.push(new Error("no server answers"));
  const client = await AbciClient.open(path);
  open.push(client);
  await client.call("offerSnapshot", { snapshot: SNAPSHOT, appHash: hashToBytes(APP_HASH) });
  const chunk = { index: 0, chunk: new Uint8Array(1) };
  await assert.rejects(client.call("applySnapshotChunk", chunk));
  assert.equal(restore.restored(), undefined);
  const next = nextRun();
  process.log(FAILED);
  await timers.scheduled("sleep");
  await timers.advance(1_000);
  await next;
  await (await restoreOver(path)).call("info");
  await synced;
});

test("a snapshot whose chunks do not come is given up with its run of CometBFT; one that comes is not", async () => {
  const { path, runs, timers, firstRun, nextRun, synced } = setup({ stallMs: 30_000 });
  await firstRun;
  const next = nextRun();
  const client = await AbciClient.open(path);
  open.push(client);
  await client.call("offerSnapshot", { snapshot: SNAPSHOT, appHash: hashToBytes(APP_HASH) });
  await timers.advance(20_000);
  await client.call("applySnapshotChunk", { index: 0, chunk: new Uint8Array(1) });
  // Each chunk has its own time.
  await timers.advance(29_999);
  assert.deepEqual(runs.length, 1);
  await timers.advance(1);
  await timers.scheduled("sleep");
  await timers.advance(1_000);
  await next;
  await (await restoreOver(path)).call("info");
  await synced;
  await timers.advance(60_000);
  assert.deepEqual(
    runs.map(({ stops }) => stops.length),
    [1, 0],
  );
});
