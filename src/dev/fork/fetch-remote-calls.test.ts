import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { fetchRemoteCalls, type RemoteAccess } from "./fetch-remote-calls.ts";

type Call = { readonly id: number; readonly method: string };
/** Status and body of an answer to a batch. */
type Answer = (calls: readonly Call[]) => readonly [status: number, body: unknown];

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A node that answers each request as the next of `answers` says, the last one again and again. */
async function serve(...answers: readonly Answer[]) {
  const requests: Call[][] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const calls = JSON.parse(Buffer.concat(chunks).toString()) as Call[];
      const answer = answers[Math.min(requests.length, answers.length - 1)]!;
      requests.push(calls);
      headers.push(request.headers);
      const [status, body] = answer(calls);
      response.writeHead(status, { connection: "close" }).end(JSON.stringify(body));
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, headers };
}

/** Results are the names of the methods; in reverse order, as JSON-RPC allows. */
const good: Answer = (calls) => [
  200,
  calls.map(({ id, method }) => ({ jsonrpc: "2.0", id, result: method })).reverse(),
];
const failing =
  (error: object): Answer =>
  (calls) => [200, calls.map(({ id }) => ({ jsonrpc: "2.0", id, error }))];
const status =
  (code: number): Answer =>
  () => [code, {}];

function fetcher(urls: readonly string[], access?: Partial<RemoteAccess>, isFirstContact = false) {
  const pauses: number[] = [];
  const timers = new ManualTimers();
  const call = fetchRemoteCalls(
    { urls, access: { headers: {}, headersFor: [], ...access }, isFirstContact },
    {
      now: () => timers.now(),
      async sleep(ms) {
        pauses.push(ms);
        timers.jump(ms);
      },
    },
  );
  return { call, pauses };
}

const calls = (count: number) => Array.from({ length: count }, (_, index) => ({ method: `m${index}`, params: [] }));

describe("fetchRemoteCalls", () => {
  test("sends batches of a hundred and puts the results in order", async () => {
    const { url, requests } = await serve(good);
    const { call } = fetcher([url]);
    assert.deepEqual(
      await call(calls(150)),
      calls(150).map(({ method }) => method),
    );
    assert.deepEqual(
      requests.map(({ length }) => length),
      [100, 50],
    );
  });

  for (const [name, answer] of [
    ["429", status(429)],
    ["503", status(503)],
    ["-32005 for a call", failing({ code: -32005, message: "limit exceeded" })],
    ["-32007 alone, without what surrounds an error", () => [200, { code: -32007, message: "request limit reached" }]],
    ["-32005 for the batch", () => [200, { error: { code: -32005, message: "limit" } }]],
  ] as readonly (readonly [string, Answer])[]) {
    test(`${name} is tried again after pauses that double`, async () => {
      const { url } = await serve(answer, answer, answer, good);
      const { call, pauses } = fetcher([url]);
      assert.deepEqual(await call(calls(1)), ["m0"]);
      assert.deepEqual(pauses, [250, 500, 1000]);
    });

    test(`${name} for ever is a failure of the remote chain`, async () => {
      const { url } = await serve(answer);
      await assert.rejects(fetcher([url]).call(calls(1)), { code: "FORK_REMOTE_FAILED" });
    });
  }

  test("headers go to the addresses that they are for, and to no other", async () => {
    const [own, other] = [await serve(status(503)), await serve(good)];
    const { call } = fetcher([own.url, other.url], { headers: { "x-key": "secret" }, headersFor: [own.url] });
    assert.deepEqual(await call(calls(1)), ["m0"]);
    assert.equal(own.headers[0]!["x-key"], "secret");
    assert.equal(other.headers[0]!["x-key"], undefined);
  });

  test("as many tries are made, after as long a pause, as access says", async () => {
    const { url, requests } = await serve(status(503));
    const { call, pauses } = fetcher([url], { retries: 2, pauseMs: 10 });
    await assert.rejects(call(calls(1)), { code: "FORK_REMOTE_FAILED" });
    assert.equal(requests.length, 3);
    assert.deepEqual(pauses, [10, 20]);
  });

  test("addresses where nothing is are asked twice at the first contact, and as often as others later or where access says so", async () => {
    const { url } = await serve(status(503));
    const dead = `http://127.0.0.1:${await freePort()}`;
    for (const [urls, access, isFirstContact, count] of [
      [[dead], {}, true, 1],
      [[dead], {}, false, 5],
      [[dead], { retries: 3 }, true, 3],
      [[dead, url], {}, true, 5],
    ] as const) {
      const { call, pauses } = fetcher(urls, access, isFirstContact);
      await assert.rejects(call(calls(1)), { code: "FORK_REMOTE_FAILED" });
      assert.equal(pauses.length, count);
    }
  });

  test("calls wait for their compute units, 17 each", async () => {
    const { url, requests } = await serve(good);
    const { call, pauses } = fetcher([url], { computeUnitsPerSecond: 170 });
    await call(calls(150));
    assert.equal(requests.length, 2);
    // A hundred calls are ten seconds of 170 units.
    assert.deepEqual(pauses, [10_000]);
  });

  test("the next address is asked at once when one does not answer", async () => {
    const { url } = await serve(good);
    const { call, pauses } = fetcher(["http://127.0.0.1:1", url]);
    assert.deepEqual(await call(calls(1)), ["m0"]);
    assert.deepEqual(pauses, []);
  });

  test("a node without the state is named as such, once no other has it", async () => {
    const pruned = failing({ code: -32000, message: "missing trie node 1234" });
    const first = await serve(pruned);
    const { call, pauses } = fetcher([first.url]);
    await assert.rejects(call(calls(1)), { code: "FORK_REMOTE_PRUNED" });
    assert.deepEqual(pauses, []);
    const forAll = await serve(() => [200, { error: { code: -32000, message: "missing trie node 1234" } }]);
    await assert.rejects(fetcher([forAll.url]).call(calls(1)), { code: "FORK_REMOTE_PRUNED" });
    const { url } = await serve(good);
    assert.deepEqual(await fetcher([first.url, url]).call(calls(1)), ["m0"]);
  });

  test("a revert has its data, another error its text", async () => {
    const reverted = await serve(failing({ code: 3, message: "execution reverted", data: "0x12" }));
    await assert.rejects(fetcher([reverted.url]).call(calls(1)), {
      code: "EXECUTION_REVERTED",
      details: { data: "0x12" },
    });
    const rejected = await serve(failing({ code: -32602, message: "invalid argument" }));
    await assert.rejects(fetcher([rejected.url]).call(calls(1)), { code: "FORK_ANSWER" });
  });

  test("what is no answer to the batch is a failure, not a result", async () => {
    for (const answer of [
      () => [200, []],
      () => [200, { result: 1 }],
      () => [200, "text"],
      () => [404, {}],
    ] as readonly Answer[]) {
      const { url } = await serve(answer);
      await assert.rejects(fetcher([url]).call(calls(1)), { code: "FORK_REMOTE_FAILED" });
    }
    await assert.rejects(fetcher([]).call(calls(1)), { code: "FORK_REMOTE_OFFLINE" });
  });
});
