import assert from "node:assert/strict";
import { test } from "node:test";
import { bob, coinbase, ETHER, stateWith } from "../../../../test/support/evm/execution/factories.ts";
import { applyRewards, blockReward } from "./rewards.ts";

test("blockReward falls at Byzantium and Constantinople and ends at the merge", () => {
  assert.equal(blockReward("frontier", 1n), 5n * ETHER);
  assert.equal(blockReward("byzantium", 1n), 3n * ETHER);
  assert.equal(blockReward("petersburg", 1n), 2n * ETHER);
  assert.equal(blockReward("paris", 1n), 0n);
});

test("applyRewards pays nothing for a block without difficulty, as after the merge, whatever the rules", () => {
  const state = stateWith();
  applyRewards({ number: 10, coinbase, difficulty: 0n }, [], "berlin", state);
  assert.equal(state.account(coinbase), undefined);
});

test("applyRewards pays 1/32 for an uncle named and 1/8 less for each generation", () => {
  const state = stateWith();
  const uncles = [
    { number: 9, coinbase: bob },
    { number: 4, coinbase: bob },
  ];
  applyRewards({ number: 10, coinbase, difficulty: 1n }, uncles, "istanbul", state);
  assert.equal(state.account(coinbase)?.balance, 2n * ETHER + (2n * ETHER * 2n) / 32n);
  assert.equal(state.account(bob)?.balance, (2n * ETHER * 7n) / 8n + (2n * ETHER * 2n) / 8n);
});
