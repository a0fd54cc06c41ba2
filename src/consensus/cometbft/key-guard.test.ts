import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { parseAddress } from "../../base/primitives/address.ts";
import { type FollowedNetwork, KeyGuard } from "./key-guard.ts";

const OWN = parseAddress(`0x${"ab".repeat(20)}`);
const OTHER = parseAddress(`0x${"cd".repeat(20)}`);
const START_MS = 1_700_000_000_000;
const NETWORK: FollowedNetwork = { isCatchingUp: false, peerCount: 2, isAlone: false, votes: [] };
const BLOCKS = 3;

/** A guard whose home has signed up to height 10, with a clock that the test drives. */
function createTestGuard(blockTimeMs = 1_000) {
  let nowMs = 0;
  const guard = new KeyGuard(
    { blocks: BLOCKS, blockTimeMs, signed: { height: 10, round: 0, step: 3 } },
    { wallClock: () => START_MS, now: () => nowMs, log: STRICT_LOGGER },
  );
  guard.watch(OWN);
  return {
    guard,
    pass(ms: number) {
      nowMs += ms;
    },
    /** Block `height`, `ageMs` after the start; its commit of the parent has signatures of these. */
    block(height: number, ageMs: number, signers: readonly (typeof OWN)[] = [OTHER], round = 0) {
      const time = { seconds: Math.floor((START_MS + ageMs) / 1_000), nanos: ((START_MS + ageMs) % 1_000) * 1e6 };
      const votes = [OWN, OTHER].map((address) => {
        return { address, power: 10, flag: signers.includes(address) ? ("commit" as const) : ("absent" as const) };
      });
      guard.finalized({ height, time, lastCommit: { round, votes } });
    },
  };
}

test("a key signs after some blocks that were made after the start, not after older ones", () => {
  const { guard, block } = createTestGuard();
  guard.observe(NETWORK);
  for (let height = 12; height < 30; height++) block(height, -60_000 + height);
  block(30, 2_000);
  assert.ok(guard.reason, "clocks differ by some seconds");
  for (const height of [31, 32]) block(height, height * 1_000);
  assert.ok(guard.reason);
  block(33, 33_000);
  assert.equal(guard.reason, undefined);
});

test("while blocks are fetched, and without peers, a key does not sign", () => {
  for (const network of [{ ...NETWORK, isCatchingUp: true }, { ...NETWORK, peerCount: 0 }, undefined]) {
    const { guard, block, pass } = createTestGuard();
    for (const height of [12, 13, 14]) block(height, height * 1_000);
    guard.observe(network);
    pass(600_000);
    guard.observe(network);
    assert.ok(guard.reason);
    guard.observe(NETWORK);
    assert.equal(guard.reason, undefined);
  }
});

test("a signature of the key in a new block restarts the count, and becomes its signing position", () => {
  const { guard, block } = createTestGuard();
  guard.observe(NETWORK);
  block(12, 12_000);
  block(13, 13_000);
  block(14, 14_000, [OTHER, OWN], 2);
  assert.match(guard.reason ?? "", /another or an earlier node/);
  assert.deepEqual(guard.signed, { height: 13, round: 2, step: 3 });
  block(15, 15_000);
  block(16, 16_000);
  assert.ok(guard.reason);
  block(17, 17_000);
  assert.equal(guard.reason, undefined);
});

test("a second node that signs with the key holds it off for as long as it does", () => {
  const { guard, block, pass } = createTestGuard();
  guard.observe(NETWORK);
  for (let height = 12; height < 500; height++) {
    pass(1_000);
    block(height, height * 1_000, [OTHER, OWN]);
    guard.observe(NETWORK);
    assert.ok(guard.reason);
  }
});

test("signatures that the home knows say nothing", () => {
  const { guard, block } = createTestGuard();
  guard.observe(NETWORK);
  for (const height of [8, 9, 10, 11]) block(height, -5_000, [OTHER, OWN]);
  assert.deepEqual(guard.signed, { height: 10, round: 0, step: 3 });
  for (const height of [12, 13, 14]) block(height, height * 1_000);
  assert.equal(guard.reason, undefined);
});

test("if the network makes no blocks, the key signs after a few seconds or block times", () => {
  for (const [blockTimeMs, waitMs] of [
    [1_000, 5_000],
    [4_000, 12_000],
  ] as const) {
    const { guard, pass } = createTestGuard(blockTimeMs);
    guard.observe(NETWORK);
    pass(waitMs - 1);
    assert.ok(guard.reason);
    pass(1);
    assert.equal(guard.reason, undefined);
  }
});

test("a validator that is alone waits as long, without peers too", () => {
  const { guard, pass } = createTestGuard();
  const network = { ...NETWORK, isAlone: true, isCatchingUp: true, peerCount: 0 };
  guard.observe(network);
  pass(4_999);
  assert.ok(guard.reason);
  pass(1);
  assert.equal(guard.reason, undefined);
});

test("votes of the key that peers have say how far it has signed, and a network that stands still is waited for longer", () => {
  const { guard, pass } = createTestGuard();
  const vote = { voter: OWN.slice(2, 14), height: 11, round: 1, kind: "prevote" } as const;
  const others = { voter: OTHER.slice(2, 14), height: 11, round: 9, kind: "precommit" } as const;
  guard.observe({ ...NETWORK, votes: [others, { ...vote, round: 0, kind: "precommit" }, vote] });
  assert.deepEqual(guard.signed, { height: 11, round: 1, step: 2 });
  pass(59_999);
  guard.observe({ ...NETWORK, votes: [vote] });
  assert.ok(guard.reason);
  pass(1);
  assert.equal(guard.reason, undefined);
});

test("votes that the home knows do not make it wait longer", () => {
  const { guard, pass } = createTestGuard();
  guard.observe({ ...NETWORK, votes: [{ voter: OWN.slice(2, 14), height: 10, round: 0, kind: "precommit" }] });
  pass(5_000);
  assert.equal(guard.reason, undefined);
});

test("losing sight of the network restarts the wait", () => {
  const { guard, pass } = createTestGuard();
  guard.observe(NETWORK);
  pass(4_000);
  guard.observe(undefined);
  guard.observe(NETWORK);
  pass(4_000);
  assert.ok(guard.reason);
  pass(1_000);
  assert.equal(guard.reason, undefined);
});
