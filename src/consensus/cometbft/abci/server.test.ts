import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { AbciClient } from "../../../../test/support/consensus/cometbft/abci-client.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { requestFrame } from "./frames.ts";
import { type AbciHandlers, type AbciServer, CONNECTIONS_MAX, listenAbci } from "./server.ts";

const open: { close(): Promise<void> }[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

type Events = { readonly lost: string[]; readonly failures: string[] };

async function start(
  handlers: Partial<AbciHandlers>,
): Promise<Events & { readonly path: string; readonly server: AbciServer }> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-abci-"));
  folders.push(folder);
  const path = join(folder, "abci.sock");
  const events: Events = { lost: [], failures: [] };
  const server = await listenAbci(
    {
      path,
      onEngineLost: () => events.lost.push("lost"),
      onFailure: (error, call) => events.failures.push(`${call}: ${(error as Error).message}`),
    },
    handlers as AbciHandlers,
  );
  open.push(server);
  return { ...events, path, server };
}

async function connect(path: string): Promise<AbciClient> {
  const client = await AbciClient.open(path);
  open.push(client);
  return client;
}

test("calls of four connections are answered each on its own, whatever the connection is for", async () => {
  const { path, server } = await start({
    info: () => ({ lastBlockHeight: 7n, appVersion: 1n }),
    checkTx: ({ tx }) => ({ code: tx.length }),
  });
  const clients = await Promise.all([1, 2, 3, 4].map(() => connect(path)));
  for (const client of clients) {
    assert.equal((await client.call("info")).lastBlockHeight, 7n);
    assert.equal((await client.call("checkTx", { tx: new Uint8Array(3) })).code, 3);
    assert.equal((await client.call("echo", { message: "x" })).message, "x");
  }
  assert.equal(server.connections(), 4);
});

test("replies keep the order of their requests when an early one takes longer", async () => {
  let finish: (() => void) | undefined;
  const { path } = await start({
    insertTx: ({ tx }) =>
      tx.length === 1
        ? new Promise((resolve) => {
            finish = () => resolve({ code: 1 });
          })
        : { code: tx.length },
  });
  const client = await connect(path);
  const frames = [1, 2, 3].map((length) => requestFrame("insertTx", { tx: new Uint8Array(length) }));
  const replies = client.raw(Buffer.concat(frames), 3);
  const other = await connect(path);
  assert.equal((await other.call("insertTx", { tx: EMPTY_BYTES })).code, 0);
  finish?.();
  assert.deepEqual(
    (await replies).map(({ fields }) => (fields as { code: number }).code),
    [1, 2, 3],
  );
});

test("a client that reads no replies holds up its own calls, and they are answered once it reads", async () => {
  const chunk = new Uint8Array(1 << 20);
  const loaded: number[] = [];
  const { path } = await start({
    info: () => ({}),
    loadSnapshotChunk({ chunk: index }) {
      loaded.push(index);
      return { chunk };
    },
  });
  const [client, other] = [await connect(path), await connect(path)];
  const indexes = Array.from({ length: 40 }, (_, index) => index);
  client.socket.pause();
  const frames = indexes.map((index) => requestFrame("loadSnapshotChunk", { chunk: index }));
  const replies = client.raw(Buffer.concat(frames), indexes.length);
  while (loaded.length === 0) await other.call("info");
  for (let turn = 0; turn < 20; turn++) await other.call("info");
  assert.deepEqual(loaded, [0]);
  client.socket.resume();
  for (const { call } of await replies) assert.equal(call, "loadSnapshotChunk");
  assert.deepEqual(loaded, indexes);
});

test("a call whose reply takes time stops the reading of its connection", async () => {
  let finish: (() => void) | undefined;
  const { path } = await start({
    info: () => ({}),
    insertTx: () => new Promise((resolve) => (finish = () => resolve({ code: 1 }))),
  });
  const [client, other] = [await connect(path), await connect(path)];
  const reply = client.call("insertTx");
  while (finish === undefined) await other.call("info");
  // More than the buffers of a socket hold.
  const echo = client.raw(requestFrame("echo", { message: "x".repeat(8 << 20) }), 1);
  for (let turn = 0; turn < 20; turn++) await other.call("info");
  assert.ok(client.socket.writableLength > 4 << 20, `${client.socket.writableLength} bytes wait`);
  finish();
  assert.equal((await reply).code, 1);
  assert.equal((await echo)[0]!.call, "echo");
});

test("connections are accepted up to a number that is bounded", async () => {
  const { path, server } = await start({ info: () => ({}) });
  const clients: AbciClient[] = [];
  for (let i = 0; i < CONNECTIONS_MAX; i++) {
    clients.push(await connect(path));
    await clients.at(-1)!.call("info");
  }
  await (await connect(path)).closed;
  assert.equal(server.connections(), CONNECTIONS_MAX);
  await clients[0]!.call("info");
});

test("a call that fails sends its reason as an exception and ends the connection", async () => {
  const { path, failures } = await start({
    processProposal() {
      throw new Error("bug");
    },
  });
  const client = await connect(path);
  await assert.rejects(client.call("processProposal"), { message: "bug" });
  await client.closed;
  assert.deepEqual(failures, ["processProposal: bug"]);
});

test("a commit that fails is never answered", async () => {
  const { path, failures } = await start({
    commit: () => Promise.reject(new Error("disk full")),
  });
  const client = await connect(path);
  await assert.rejects(client.call("commit"), { message: "connection closed" });
  assert.deepEqual(failures, ["commit: disk full"]);
});

test("bytes that are no request end the connection, and only that one", async () => {
  const { path, failures } = await start({ info: () => ({}) });
  const bad = await connect(path);
  const good = await connect(path);
  const [reply] = await bad.raw(Uint8Array.of(2, 0xff, 0xff), 1);
  assert.equal(reply?.call, "exception");
  await bad.closed;
  assert.equal(failures.length, 1);
  await good.call("info");
});

test("the loss of the consensus connection is reported once, and of other connections never", async () => {
  const { path, lost } = await start({ commit: () => ({}), info: () => ({}) });
  const [consensus, query] = [await connect(path), await connect(path)];
  await consensus.call("commit");
  await query.call("info");
  await query.close();
  await query.closed;
  assert.deepEqual(lost, []);
  await consensus.close();
  const next = await connect(path);
  await next.call("info");
  assert.deepEqual(lost, ["lost"]);
});

test("the late end of an old consensus connection takes nothing from the new one", async () => {
  const events: string[] = [];
  const { path, lost } = await start({
    finalizeBlock() {
      events.push(`finalize after ${lost.length}`);
      return {};
    },
    commit() {
      events.push(`commit after ${lost.length}`);
      return {};
    },
    info: () => ({}),
  });
  const old = await connect(path);
  await old.call("finalizeBlock");
  const next = await connect(path);
  await next.call("finalizeBlock");
  await old.close();
  await old.closed;
  await (await connect(path)).call("info");
  await next.call("commit");
  assert.deepEqual(events, ["finalize after 0", "finalize after 1", "commit after 1"]);
});

test("the socket is the user's own, and a stale file gives way to it", async () => {
  const first = await start({ info: () => ({}) });
  assert.equal(statSync(first.path).mode & 0o777, 0o600);
  await first.server.close();
  writeFileSync(first.path, "");
  const again = await listenAbci({ path: first.path, onEngineLost: () => {}, onFailure: () => {} }, {
    info: () => ({}),
  } as unknown as AbciHandlers);
  open.push(again);
  await (await connect(first.path)).call("info");
});

test("a path that no unix socket can have is an error that says so", async () => {
  await assert.rejects(
    listenAbci({ path: `/tmp/${"x".repeat(110)}`, onEngineLost: () => {}, onFailure: () => {} }, {} as AbciHandlers),
    { code: "ABCI_SOCKET_PATH_TOO_LONG" },
  );
});
