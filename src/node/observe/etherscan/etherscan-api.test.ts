import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { MemoryBudget } from "../../../rpc/transport/memory-budget.ts";
import { type ApiModules, createEtherscanApi } from "./etherscan-api.ts";

const ALICE = `0x${"a1".repeat(20)}`;
const BOB = `0x${"b0".repeat(20)}`;
const HASH = `0x${"11".repeat(32)}`;
const CALLDATA_BYTES = 120_000;
const QUERY = `module=account&action=txlist&address=${ALICE}`;

type Answer = { readonly status: string; readonly result: readonly { readonly blockNumber: string }[] };

/** The API over a chain of `count` blocks, each with one large transaction of alice's; those of `internal` numbers are bob's. */
async function serve(count: number, internal: ReadonlySet<number> = new Set()) {
  let nowMs = 0;
  const slices = new SharedSlices({ now: () => nowMs, deferred: fatalTimers.deferred });
  const seen = { read: 0, verified: 0, running: 0, most: 0, bytesOfSlice: [0] };
  const chain = {
    head: () => ({ header: { number: count } }),
    async addressPage(query: { from: number; to: number; order: string; transactionsMin: number }) {
      seen.running++;
      seen.most = Math.max(seen.most, seen.running);
      await new Promise(setImmediate);
      seen.running--;
      const all = Array.from({ length: count }, (_, i) => i + 1).filter((n) => n >= query.from && n <= query.to);
      if (query.order === "newestFirst") all.reverse();
      const shown = all.slice(0, query.transactionsMin);
      return {
        blocks: shown.map((number) => ({ number, entries: [{ index: 0 }] })),
        isMore: shown.length < all.length,
      };
    },
    transactionAt({ at }: { at: number }) {
      seen.read++;
      // As long as a read of so many bytes may take at most.
      nowMs += 1;
      seen.bytesOfSlice[seen.bytesOfSlice.length - 1]! += CALLDATA_BYTES;
      const data = new Uint8Array(CALLDATA_BYTES);
      const tx = { hash: HASH, raw: data, data, to: BOB, nonce: 0n, value: 0n, gasLimit: 0n };
      const position = { blockNumber: at, blockHash: HASH, blockTimestamp: 1, index: 0 };
      return { tx, sender: internal.has(at) ? BOB : ALICE, position };
    },
    receipt: () => ({
      receipt: {
        status: 1,
        contractAddress: null,
        logs: [],
        cumulativeGasUsed: 1n,
        gasUsed: 1n,
        effectiveGasPrice: 1n,
      },
    }),
  };
  const contracts = {
    async verify() {
      seen.verified++;
      return { id: "1" };
    },
  };
  const charged: number[] = [];
  const budgets = {
    input: new MemoryBudget(1e9),
    output: new MemoryBudget(1e9, (bytes) => charged.push(bytes)),
  };
  const next = slices.next.bind(slices);
  slices.next = () => {
    seen.bytesOfSlice.push(0);
    return next();
  };
  const modules = { chain, contracts, timers: fatalTimers, sessions: { slices: { json: slices } } };
  const api = createEtherscanApi(modules as unknown as ApiModules, STRICT_LOGGER);
  const access = { namespaces: new Set(["eth", "ots"]), isOpen: true };
  const server = createServer((request, response) => void api(request, response, access, budgets));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const list = async (more = "") => (await (await fetch(`${url}?${QUERY}${more}`)).json()) as Answer;
  const numbers = async (more: string) => (await list(more)).result.map(({ blockNumber }) => Number(blockNumber));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { seen, budgets, charged, url, list, numbers, close };
}

test("txlist reads the transactions up to the end of the page, and no more", async () => {
  const { seen, numbers, close } = await serve(700);
  assert.deepEqual(await numbers("&page=1&offset=1"), [1]);
  assert.equal(seen.read, 1);
  assert.deepEqual(await numbers("&page=3&offset=2&sort=desc"), [696, 695]);
  assert.equal(seen.read, 1 + 6);
  close();
});

test("txlist fills its page where some of the transactions are internal", async () => {
  const { seen, numbers, close } = await serve(20, new Set([1, 2, 5, 6, 7, 9]));
  assert.deepEqual(await numbers("&page=1&offset=4"), [3, 4, 8, 10]);
  assert.deepEqual(await numbers("&page=2&offset=3&sort=desc"), [17, 16, 15]);
  assert.deepEqual(await numbers("&page=4&offset=4&sort=asc"), [19, 20]);
  assert.ok(seen.read <= 10 + 6 + 20, `${seen.read} were read`);
  close();
});

test("txlist reads in slices by bytes: some hundred kilobytes between two turns of other work", async () => {
  const { seen, list, close } = await serve(60);
  assert.equal((await list()).result.length, 60);
  assert.ok(seen.bytesOfSlice.length >= 10, `${seen.bytesOfSlice.length} slices`);
  assert.ok(Math.max(...seen.bytesOfSlice) <= 6 * CALLDATA_BYTES, `${seen.bytesOfSlice}`);
  close();
});

test("an answer of /api is charged to the memory for answers until it is sent, and has a limit", async () => {
  const { charged, budgets, list, close } = await serve(200);
  await list("&offset=10");
  assert.ok(Math.max(...charged) >= 10 * 2 * CALLDATA_BYTES, `${charged}`);
  assert.equal(budgets.output.bytes, 0);
  const { status, result } = await list();
  assert.equal(status, "0");
  assert.match(String(result), /larger than/);
  assert.equal(budgets.output.bytes, 0);
  close();
});

test("heavy actions of /api run one at a time", async () => {
  const { seen, list, close } = await serve(5);
  const answers = await Promise.all(Array.from({ length: 8 }, () => list()));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], ["1"]);
  assert.equal(seen.most, 1);
  close();
});

test("an action of /api that changes something is for POST alone", async () => {
  const { seen, url, close } = await serve(1);
  const form = new URLSearchParams({
    module: "contract",
    action: "verifysourcecode",
    contractaddress: ALICE,
    sourceCode: "contract A {}",
    contractname: "A",
    compilerversion: "v0.8.1",
  });
  const got = await fetch(`${url}?${form}`);
  assert.deepEqual([got.status, got.headers.get("allow")], [405, "POST"]);
  assert.equal(((await got.json()) as Answer).status, "0");
  assert.equal(seen.verified, 0);
  const posted = await fetch(url, { method: "POST", body: form });
  assert.equal(posted.status, 200);
  assert.equal(seen.verified, 1);
  close();
});
