import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNTS } from "../../../../test/support/consensus/test-application.ts";
import { OwnVotes } from "./block-watchers.ts";

const OWN = ACCOUNTS[0]!;
const OTHER = ACCOUNTS[1]!;

function open() {
  const headAge = { isLate: false };
  const own = { address: OWN };
  let height = 100;
  const votes = new OwnVotes({ address: () => own.address, headAge });
  const blocks = (count: number, flag: "commit" | "absent" | "nil", address = OWN) => {
    const others = { address: OTHER, power: 10, flag: "commit" } as const;
    for (let i = 0; i < count; i++) {
      votes.finalized({ height: ++height, lastCommit: { round: 0, votes: [others, { address, power: 10, flag }] } });
    }
  };
  return { votes, blocks, headAge, own };
}

test("a validator whose signatures are missing from sixteen blocks in a row is a problem, until one has it", () => {
  const { votes, blocks } = open();
  blocks(15, "absent");
  assert.equal(votes.problem, undefined);
  blocks(1, "absent");
  assert.equal(votes.unsigned, 16);
  assert.match(votes.problem ?? "", new RegExp(OWN));
  blocks(1, "commit");
  assert.deepEqual([votes.unsigned, votes.problem], [0, undefined]);
  blocks(15, "absent");
  // A vote for no block is a signature.
  blocks(1, "nil");
  blocks(15, "absent");
  assert.equal(votes.problem, undefined);
});

test("blocks made while the node was away, and blocks of others, do not count", () => {
  const { votes, blocks, headAge, own } = open();
  headAge.isLate = true;
  blocks(100, "absent");
  assert.equal(votes.unsigned, 0);
  headAge.isLate = false;
  blocks(15, "absent");
  own.address = OTHER;
  blocks(20, "absent");
  assert.equal(votes.unsigned, 0);
  own.address = OWN;
  votes.finalized({ height: 1_000, lastCommit: { round: 0, votes: [] } });
  assert.equal(votes.problem, undefined);
});

test("OwnVotes awaits a signature for a block after the start of CometBFT, at each start", () => {
  const { votes, blocks } = open();
  assert.equal(votes.isAwaited, true);
  votes.started(102);
  // The commits of blocks 100 to 102 are of the life before.
  blocks(3, "commit");
  assert.equal(votes.isAwaited, true);
  blocks(1, "absent");
  blocks(1, "commit", OTHER);
  assert.equal(votes.isAwaited, true);
  blocks(1, "nil");
  assert.equal(votes.isAwaited, false);
  blocks(1, "absent");
  assert.equal(votes.isAwaited, false);
  votes.started(107);
  assert.equal(votes.isAwaited, true);
});
