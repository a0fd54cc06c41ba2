import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import {
  atBlock,
  type CastVote,
  countVote,
  SIGNERS_MAX,
  type Snapshot,
  tallyOf,
  VOTES_PER_SIGNER_MAX,
} from "./snapshot.ts";

/** `A` is 0x0a0a…, so that names sort as addresses do. */
function addressOf(name: string): Address {
  return `0x${name.toLowerCase().charCodeAt(0).toString(16).repeat(20)}` as Address;
}

function nameOf(address: Address): string {
  return String.fromCharCode(Number.parseInt(address.slice(2, 4), 16)).toUpperCase();
}

function start(names: string): Snapshot {
  const signers = [...names].map((name) => ({ address: addressOf(name), publicKey: EMPTY_BYTES }));
  return { signers, votes: [] };
}

/** `"A+C"` is A's vote to add C in the next block, `"B-A"` B's vote to drop A, `"A"` a block of A without a vote. */
function cast(text: string, block: number): CastVote | undefined {
  if (text.length === 1) return undefined;
  const [signer, direction, candidate] = text as unknown as [string, string, string];
  return {
    signer: addressOf(signer),
    candidate: addressOf(candidate),
    authorize: direction === "+",
    publicKey: EMPTY_BYTES,
    block,
  };
}

function after(names: string, blocks: readonly string[], epoch?: number): Snapshot {
  return blocks.reduce((snapshot, text, index) => {
    const vote = cast(text, index + 1);
    return vote ? countVote(snapshot, vote, epoch) : atBlock(snapshot, index + 1, epoch);
  }, start(names));
}

const names = ({ signers }: Snapshot) => signers.map(({ address }) => nameOf(address)).join("");

/** The outcomes of the scenarios that geth's clique engine is tested with. */
const SCENARIOS: readonly {
  readonly name: string;
  readonly signers: string;
  readonly blocks: readonly string[];
  readonly result: string;
  readonly epoch?: number;
}[] = [
  { name: "no votes", signers: "A", blocks: ["A"], result: "A" },
  {
    name: "one signer adds two: the second needs two votes",
    signers: "A",
    blocks: ["A+B", "B", "A+C"],
    result: "AB",
  },
  {
    name: "two signers add two, and three of four add a fifth",
    signers: "AB",
    blocks: ["A+C", "B+C", "A+D", "B+D", "C", "A+E", "B+E"],
    result: "ABCD",
  },
  { name: "the last signer cannot drop itself", signers: "A", blocks: ["A-A"], result: "A" },
  { name: "dropping one of two needs both", signers: "AB", blocks: ["A-B"], result: "AB" },
  { name: "both drop one of them", signers: "AB", blocks: ["A-B", "B-B"], result: "A" },
  { name: "two of three drop the third", signers: "ABC", blocks: ["A-C", "B-C"], result: "AB" },
  { name: "two of four are not enough", signers: "ABCD", blocks: ["A-C", "B-C"], result: "ABCD" },
  {
    name: "three of four drop one",
    signers: "ABCD",
    blocks: ["A-D", "B-D", "C-D"],
    result: "ABC",
  },
  {
    name: "repeated votes to add count once",
    signers: "AB",
    blocks: ["A+C", "B", "A+C", "B", "A+C"],
    result: "AB",
  },
  {
    name: "repeated votes to drop count once",
    signers: "ABC",
    blocks: ["A-C", "B", "A-C", "B", "A-C"],
    result: "ABC",
  },
  {
    name: "several candidates are pending together",
    signers: "AB",
    blocks: ["A+C", "B", "A+D", "B", "A", "B+D", "A", "B+C"],
    result: "ABCD",
  },
  {
    name: "several drops are pending together",
    signers: "ABCD",
    blocks: ["A-C", "B", "C", "A-D", "B-C", "C", "A", "B-D", "C-D", "A", "B-C", "C-C"],
    result: "AB",
  },
  {
    name: "the votes of a dropped signer are void",
    signers: "ABC",
    blocks: ["C-B", "A-C", "B-C", "A-B"],
    result: "AB",
  },
  {
    name: "a dropped signer's vote for a new one is void",
    signers: "ABC",
    blocks: ["C+D", "A-C", "B-C", "A+D"],
    result: "AB",
  },
  {
    name: "a change of mind replaces the vote",
    signers: "ABC",
    blocks: ["A+D", "A-D", "B+D", "C"],
    result: "ABC",
  },
  {
    name: "votes are spent by a decision: dropping again needs a majority again",
    signers: "ABC",
    blocks: ["A-C", "B-C", "A+C", "B+C", "A-C"],
    result: "ABC",
  },
  { name: "votes of others do not count", signers: "AB", blocks: ["A+C", "D+C"], result: "AB" },
  {
    name: "a former signer has no vote",
    signers: "ABC",
    blocks: ["A-C", "B-C", "A+D", "C+D"],
    result: "AB",
  },
  {
    name: "an epoch voids the votes before it",
    signers: "AB",
    blocks: ["A+C", "B", "A", "B+C"],
    epoch: 3,
    result: "AB",
  },
  {
    name: "votes of one epoch count together",
    signers: "AB",
    blocks: ["A", "B", "A", "B+C", "A+C"],
    epoch: 3,
    result: "ABC",
  },
];

for (const { name, signers, blocks, result, epoch } of SCENARIOS) {
  test(`eip225: ${name}`, () => {
    assert.equal(names(after(signers, blocks, epoch)), result);
  });
}

test("tallyOf counts the pending votes about each candidate", () => {
  const snapshot = after("ABCD", ["A+E", "B+E", "A-D", "C+E", "A+F"]);
  assert.equal(names(snapshot), "ABCDE");
  assert.deepEqual(Object.fromEntries(tallyOf(snapshot)), {
    [addressOf("D")]: { authorize: false, votes: 1 },
    [addressOf("F")]: { authorize: true, votes: 1 },
  });
});

test("countVote stores no more than so many votes of one signer, and none beyond the largest set", () => {
  const candidate = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as Address;
  let snapshot = start("AB");
  for (let n = 1; n <= VOTES_PER_SIGNER_MAX + 3; n++) {
    const vote = { candidate: candidate(n), authorize: true, publicKey: EMPTY_BYTES };
    snapshot = countVote(snapshot, { ...vote, signer: addressOf("A"), block: n });
  }
  assert.equal(snapshot.votes.length, VOTES_PER_SIGNER_MAX);
  const full: Snapshot = {
    signers: Array.from({ length: SIGNERS_MAX }, (_, n) => ({
      address: candidate(n),
      publicKey: EMPTY_BYTES,
    })),
    votes: [],
  };
  const vote = { candidate: addressOf("A"), authorize: true, publicKey: EMPTY_BYTES };
  assert.deepEqual(countVote(full, { ...vote, signer: candidate(0), block: 1 }).votes, []);
});
