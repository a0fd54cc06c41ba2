/** The chain's thread waits in these tests, so the remote node has one of its own. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { modelRemoteChain } from "../../../test/support/remote-chain.ts";
import { addressFromWord } from "../../base/primitives/address.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { type LogData, SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { RemoteThread } from "./remote-thread.ts";

/** Balances are the numbers of addresses. Below HANGS a node answers at once, below HUGE never; codes beyond have 20 kB. */
const [HANGS, HUGE] = [1_000n, 2_000n];
const SERVER = `
  const { createServer } = require("node:http");
  const { parentPort } = require("node:worker_threads");
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => { text += chunk; });
    request.on("end", () => {
      const calls = JSON.parse(text);
      const words = calls.map(({ params }) => BigInt(params[0]));
      if (words.some((word) => word >= ${HANGS}n && word < ${HUGE}n)) return;
      const results = calls.map(({ id }, i) => ({
        jsonrpc: "2.0",
        id,
        result: words[i] < ${HUGE}n ? "0x" + words[i].toString(16) : "0x" + "00".repeat(20_000),
      }));
      response.end(JSON.stringify(results));
    });
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const { header } = modelRemoteChain(new Map([[addressFromWord(1n), { balance: 1n }]]));
const block = { chainId: 1n, header };
let server: Worker;
let url: string;
before(async () => {
  server = new Worker(SERVER, { eval: true });
  const [port] = (await once(server, "message")) as [number];
  url = `http://127.0.0.1:${port}`;
});
after(() => server.terminate());

const balanceRead = (word: bigint) => ({
  method: "eth_getBalance",
  params: [addressFromWord(word), "0x64"],
});

const codeRead = (word: bigint) => ({ ...balanceRead(word), method: "eth_getCode" });

test("after a call that was given up, each call has its own result", async (context) => {
  const thread = new RemoteThread(
    { urls: [url, `${url}/second`], block, isVerified: false, callsMsMax: 2_000 },
    SILENT_LOGGER,
  );
  context.after(() => thread.close());
  for (let round = 0n; round < 2n; round++) {
    assert.throws(() => thread.call([balanceRead(HANGS + round)]), { code: "FORK_REMOTE_FAILED" });
    for (const word of [round + 1n, round + 2n]) {
      assert.deepEqual(thread.call([balanceRead(word)]), [toQuantity(word)]);
    }
  }
});

test("a thread that is out of memory fails the call that waits, and the next one starts it again", async (context) => {
  const reasons: unknown[] = [];
  const thread = new RemoteThread(
    { urls: [url], block, isVerified: false, callsMsMax: 600_000, heapMbMax: 64 },
    { ...SILENT_LOGGER, warn: (_text: string, data?: LogData) => void reasons.push(data?.["reason"]) },
  );
  context.after(() => thread.close());
  assert.deepEqual(thread.call([balanceRead(5n)]), ["0x5"]);
  // 120 MB in batches of 4: the heap fills little by little.
  const codes = Array.from({ length: 3_000 }, (_, i) => codeRead(HUGE + BigInt(i)));
  assert.throws(() => thread.call(codes), { code: "FORK_REMOTE_FAILED" });
  // And not after the ten minutes of the call.
  assert.ok(reasons.includes("has ended"), String(reasons));
  assert.deepEqual(thread.call([balanceRead(7n)]), ["0x7"]);
});

test("other nodes are asked from now on, also by a thread that is started again", async (context) => {
  const thread = new RemoteThread(
    { urls: ["http://127.0.0.1:1"], block, isVerified: false, callsMsMax: 2_000 },
    SILENT_LOGGER,
  );
  context.after(() => thread.close());
  assert.throws(() => thread.call([balanceRead(1n)]), { code: "FORK_REMOTE_FAILED" });
  thread.setUrls([url]);
  assert.deepEqual(thread.call([balanceRead(1n)]), ["0x1"]);
});
