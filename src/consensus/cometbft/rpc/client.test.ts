import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { createEngineRpc } from "./client.ts";

/** A path that a URL would have to escape. */
const folder = mkdtempSync(join(tmpdir(), "evmint rpc,#?%-"));
const socket = join(folder, "rpc.sock");
let answerOf: (method: string) => string = () => "";
const server = createServer(async (request, response) => {
  response.end(answerOf((JSON.parse(await text(request)) as { method: string }).method));
});
before(() => new Promise<void>((resolve) => server.listen(socket, resolve)));
after(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const HOSTILE = 'x\n{"level":"error"}\u0000\u001b[2J__proto__';
const NODE = { id: "ab", moniker: HOSTILE, version: "0", network: "n", listen_addr: "tcp://a:1" };
const ANSWERS: Readonly<Record<string, object>> = {
  status: {
    node_info: NODE,
    sync_info: {
      catching_up: false,
      earliest_block_height: "1",
      latest_block_height: "7",
      latest_block_hash: "AB",
    },
    validator_info: { address: "AA", voting_power: "1" },
  },
  net_info: {
    peers: [
      {
        node_info: NODE,
        remote_ip: "127.0.0.1",
        is_outbound: false,
        connection_status: { Duration: "9223372036854775807" },
      },
    ],
  },
  consensus_state: {
    round_state: {
      "height/round/step": "8/1/3",
      height_vote_set: [
        {
          round: 0,
          prevotes: [
            "nil-Vote",
            "Vote{1:BF4530BBE4B4 8/00/SIGNED_MSG_TYPE_PREVOTE(Prevote) 000000000000 1C2B3A4F5E6D 000000000000 @ 2026-11-24T16:00:00.1Z}",
          ],
          precommits: [
            "Vote{3:0FEF6B41A0A1 8/00/SIGNED_MSG_TYPE_PRECOMMIT(Precommit) 8B01023386C3 1C2B3A4F5E6D 000000000000 @ 2026-11-24T16:00:00Z}",
            "Vote{2:7C6D9F0A1B2C 8/00/SIGNED_MSG_TYPE_PRECOMMIT(Precommit) 000000000000 1C2B3A4F5E6D 000000000000 @ 2026-11-24T16:00:05.000000001Z}",
          ],
          prevotes_bit_array: "BA{4:xxxx} 40/40 = 1.00",
          precommits_bit_array: "BA{4:xx__} 20/40 = 0.50",
        },
        {
          round: 1,
          prevotes: [],
          precommits: [],
          prevotes_bit_array: "BA{4:xx_x} 30/40 = 0.75",
          precommits_bit_array: "BA{4:____} 0/40 = 0.00",
        },
        {
          round: 2,
          prevotes: [],
          precommits: [],
          prevotes_bit_array: "BA{4:x___} 10/40 = 0.25",
          precommits_bit_array: "BA{4:____} 0/40 = 0.00",
        },
      ],
    },
  },
  blockchain: { last_height: "12", block_metas: [] },
};

test("answers of CometBFT v0.40 are decoded, and peers' own claims are only text", async () => {
  answerOf = (method) => JSON.stringify({ jsonrpc: "2.0", id: 1, result: ANSWERS[method] });
  const rpc = createEngineRpc(socket, fatalTimers);
  const { moniker, latestHeight, earliestHeight, votingPower } = await rpc.status();
  assert.deepEqual([moniker, latestHeight, earliestHeight, votingPower], [HOSTILE, 7, 1, 1]);
  const [peer] = await rpc.peers();
  assert.equal(peer!.moniker, HOSTILE);
  assert.equal(peer!.connectedForNanos, 2n ** 63n - 1n);
  assert.deepEqual(await rpc.round(), {
    step: { height: 8, round: 1, step: 3 },
    votedPower: 30,
    totalPower: 40,
    votedAtMs: Date.UTC(2026, 10, 24, 16, 0, 0, 0),
    votes: [
      { voter: "bf4530bbe4b4", height: 8, round: 0, kind: "prevote", atMs: Date.UTC(2026, 10, 24, 16, 0, 0, 100) },
      { voter: "0fef6b41a0a1", height: 8, round: 0, kind: "precommit", atMs: Date.UTC(2026, 10, 24, 16, 0, 0, 0) },
      { voter: "7c6d9f0a1b2c", height: 8, round: 0, kind: "precommit", atMs: Date.UTC(2026, 10, 24, 16, 0, 5) },
    ],
  });
  assert.equal(await rpc.storeHeight(), 12);
});

/** Every value in `answer` in turn replaced by `value`. */
function* damaged(answer: unknown, value: unknown): Generator<unknown> {
  if (typeof answer !== "object" || answer === null) return;
  for (const [name, member] of Object.entries(answer)) {
    const replace = (changed: unknown) =>
      Array.isArray(answer)
        ? answer.map((each, index) => (String(index) === name ? changed : each))
        : { ...answer, [name]: changed };
    yield replace(value);
    for (const changed of damaged(member, value)) yield replace(changed);
  }
}

test("an answer that is damaged anywhere is decoded or refused with one error, never half", async () => {
  const rpc = createEngineRpc(socket, fatalTimers);
  const calls = {
    status: () => rpc.status(),
    net_info: () => rpc.peers(),
    consensus_state: () => rpc.round(),
    blockchain: () => rpc.storeHeight(),
  };
  const isNumberOrText = (_: string, value: unknown) => {
    assert.ok(typeof value !== "number" || Number.isSafeInteger(value), String(value));
    return typeof value === "bigint" ? String(value) : value;
  };
  let refused = 0;
  for (const [method, call] of Object.entries(calls)) {
    for (const value of [null, 7, "", "-1", "1e9", "0x1", "9".repeat(30), {}, [], [null], true]) {
      for (const result of [value, ...damaged(ANSWERS[method], value)]) {
        answerOf = () => JSON.stringify({ result });
        try {
          JSON.stringify(await call(), isNumberOrText);
        } catch (error) {
          assert.equal((error as { code?: string }).code, "ENGINE_RPC", JSON.stringify(result));
          refused++;
        }
      }
    }
  }
  assert.ok(refused > 300, String(refused));
});

test("no JSON, an error, a closed socket and an answer without end are that error too", async () => {
  const rpc = createEngineRpc(socket, fatalTimers);
  for (const answer of ["", "{", "[]", '"x"', '{"error":{"message":"no"}}', '{"error":7}']) {
    answerOf = () => answer;
    await assert.rejects(rpc.status(), { code: "ENGINE_RPC" }, answer);
  }
  answerOf = () => `{"result":"${"x".repeat(9 << 20)}"}`;
  await assert.rejects(rpc.status(), { code: "ENGINE_RPC" });
  await assert.rejects(createEngineRpc(`${socket}.none`, fatalTimers).status(), { code: "ENGINE_RPC" });
});
