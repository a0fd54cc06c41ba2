import assert from "node:assert/strict";
import { test } from "node:test";
import { commitTimeoutMs, proposeTimeoutMs } from "../home/config.ts";
import { HeadAge } from "./head-age.ts";

const SECONDS = 1_700_000_000;

function open(blockTimeMs: number) {
  let now = 1_000 * SECONDS;
  let skew = 0;
  let head = SECONDS - 60;
  let height = 10;
  const modules = { wallClock: () => now + skew, now: () => now - 1_000 * SECONDS, timestamp: () => head };
  const age = new HeadAge({ blockTimeMs }, modules);
  return {
    age,
    pass(ms: number) {
      now += ms;
    },
    setSkew(ms: number) {
      skew = ms;
    },
    propose(ahead = 1) {
      age.proposed({ height: height + ahead });
    },
    observe(round: number, votedPower: number, { ahead = 1, step = 5 } = {}) {
      const at = { height: height + ahead, round, step };
      age.observe({ step: at, votedPower, totalPower: 40, votedAtMs: undefined });
    },
    /** Two thirds voted so long ago. */
    observeVotes(agoMs: number) {
      const step = { height: height + 1, round: 0, step: 6 };
      age.observe({ step, votedPower: 40, totalPower: 40, votedAtMs: now - agoMs });
    },
    /** A block with the time of now less `ageMs`. */
    decide(ageMs: number) {
      const time = now - ageMs;
      head = Math.floor(time / 1_000);
      age.finalized({ height: ++height, time: { seconds: head, nanos: (time % 1_000) * 1e6 } });
    },
  };
}

test("HeadAge of a block that nothing was heard of is late after four block times, the wait for a proposal and half a second", () => {
  for (const [blockTimeMs, msMax] of [
    [1_000, 6_500],
    [5_000, 22_500],
    [200, 4_500],
  ] as const) {
    const { age, pass, decide } = open(blockTimeMs);
    assert.equal(age.isLate, true);
    pass(700);
    decide(blockTimeMs);
    assert.equal(age.isLate, false);
    pass(msMax - blockTimeMs);
    assert.equal(age.isLate, false);
    pass(1);
    assert.equal(age.isLate, true);
    decide(blockTimeMs);
    assert.equal(age.isLate, false);
  }
});

test("HeadAge is late later after a sign at the block that became the head than after one at the next block", () => {
  for (const [blockTimeMs, isHead, msMax] of [
    [1_000, false, 4_500],
    [1_000, true, 5_500],
    [5_000, false, 12_500],
    [5_000, true, 17_500],
    [200, false, 4_500],
    [200, true, 4_500],
  ] as const) {
    const { age, pass, decide, propose } = open(blockTimeMs);
    // The time of the head makes it late before the sign does.
    const headMs = 2 * blockTimeMs + 1_000;
    decide(0);
    pass(headMs);
    propose();
    if (isHead) decide(headMs);
    pass(msMax);
    assert.equal(age.isLate, false);
    pass(1);
    assert.equal(age.isLate, true);
  }
});

test("HeadAge counts fractions of a second for decided blocks, not for one from before the start", () => {
  const { age, pass, decide } = open(1_000);
  assert.equal(age.ms, 60_000);
  pass(1_900);
  decide(1_000);
  assert.equal(age.ms, 1_000);
});

test("HeadAge is extended by a proposal, a later round and new votes of two thirds for the next block", () => {
  const { age, pass, decide, propose, observe } = open(1_000);
  decide(1_000);
  pass(3_000);
  observe(0, 20);
  propose();
  pass(4_000);
  assert.equal(age.isLate, false);
  observe(0, 30);
  pass(4_000);
  assert.equal(age.isLate, false);
  observe(1, 0);
  // Round 1 waits a second longer for its proposal.
  pass(5_500);
  assert.equal(age.isLate, false);
  pass(1);
  assert.equal(age.isLate, true);
});

test("HeadAge is not extended by the same votes, other heights, or votes for a block that others have", () => {
  const { age, pass, decide, propose, observe } = open(1_000);
  decide(2_000);
  observe(0, 0);
  pass(1_000);
  observe(0, 30);
  pass(3_000);
  observe(0, 30);
  observe(0, 40);
  propose(0);
  propose(2);
  observe(2, 40, { ahead: 2 });
  observe(3, 40, { ahead: 2 });
  observe(0, 0);
  observe(0, 40, { step: 8 });
  pass(1_500);
  assert.equal(age.isLate, false);
  pass(1);
  assert.equal(age.isLate, true);
});

test("HeadAge of an old head is not made fresh by proposals and rounds, only by a block with a fresh time", () => {
  const { age, pass, decide, propose, observe } = open(1_000);
  decide(60_000);
  observe(0, 0);
  for (let round = 1; round < 5; round++) {
    propose();
    observe(round, 40);
    assert.equal(age.isLate, true);
    pass(100);
  }
  decide(900);
  assert.equal(age.isLate, false);
});

test("HeadAge of a late head is made fresh by votes for the next block whose own times are fresh, and by no older ones", () => {
  const { age, pass, decide, observeVotes } = open(1_000);
  decide(60_000);
  for (const agoMs of [60_000, 4_501]) {
    observeVotes(agoMs);
    assert.equal(age.isLate, true);
  }
  observeVotes(500);
  pass(4_000);
  assert.equal(age.isLate, false);
  pass(1);
  assert.equal(age.isLate, true);
  // They were votes for the block that is the head now.
  decide(60_000);
  pass(999);
  assert.equal(age.isLate, false);
  pass(1);
  assert.equal(age.isLate, true);
});

test("HeadAge with a clock that is ahead by more than the limit stays late", () => {
  const { age, pass, setSkew, decide, propose } = open(1_000);
  setSkew(10_000);
  for (let block = 0; block < 5; block++) {
    decide(1_000);
    pass(900);
    propose();
    assert.equal(age.isLate, true);
  }
});

type Turns = {
  readonly validators: number;
  /** These validators do not propose. */
  readonly down: readonly number[];
  readonly blockTimeMs: number;
  /** Messages, votes and answers of CometBFT take so long on a slow machine. */
  readonly slowMs?: number;
  /** The node has the votes for each block before its proposal. */
  readonly missesProposals?: boolean;
};

/** In how many moments of two turns of all validators a healthy node that looks at its round each half second is late. */
function lateSamples({ validators, down, blockTimeMs, slowMs = 0, missesProposals = false }: Turns): number {
  const { age, pass, decide, propose, observe } = open(blockTimeMs);
  let late = 0;
  let sincePollMs = 0;
  const state = { round: 0, votedPower: 0 };
  const run = (ms: number) => {
    for (let at = 0; at < ms; at += 50) {
      pass(50);
      sincePollMs += 50;
      if (sincePollMs >= 500 + slowMs) {
        sincePollMs = 0;
        observe(state.round, state.votedPower);
      }
      if (age.isLate) late++;
    }
  };
  decide(0);
  for (let turn = 0; turn < 2 * validators; turn++) {
    Object.assign(state, { round: 0, votedPower: 0 });
    let tookMs = commitTimeoutMs(blockTimeMs);
    run(tookMs);
    while (down.includes((turn + state.round) % validators)) {
      const proposeMs = proposeTimeoutMs(blockTimeMs, state.round) + slowMs;
      run(proposeMs);
      state.votedPower = 40;
      const precommitMs = 1_000 + 500 * state.round + slowMs;
      run(precommitMs);
      tookMs += proposeMs + precommitMs;
      state.round++;
      state.votedPower = 0;
    }
    run(slowMs);
    if (!missesProposals) propose();
    run(100 + slowMs);
    tookMs += 100 + 2 * slowMs;
    decide(tookMs);
  }
  return late;
}

test("HeadAge is late on no healthy node while fewer than a third of the validators are down, in any order, on a slow machine too", () => {
  const sets = {
    4: [[3]],
    7: [
      [2, 5],
      [2, 3],
    ],
    20: [
      [1, 4, 7, 11, 14, 18],
      [2, 3, 9, 10, 11, 17],
      [4, 5, 6, 7, 8, 9],
    ],
  };
  for (const [count, choices] of Object.entries(sets)) {
    const validators = Number(count);
    for (const down of choices) {
      for (const blockTimeMs of [1_000, 5_000]) {
        for (const missesProposals of [false, true]) {
          for (const slowMs of [0, 400]) {
            const turns = { validators, down, blockTimeMs, slowMs, missesProposals };
            assert.equal(lateSamples(turns), 0, JSON.stringify(turns));
          }
        }
      }
    }
  }
});
