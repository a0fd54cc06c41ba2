import assert from "node:assert/strict";
import { test } from "node:test";
import { type Address, parseAddress } from "../base/primitives/address.ts";
import { renderVotes, type VotesView } from "./commands/votes.ts";

const [A, B, C, D, NEW] = ["a", "b", "c", "d", "e"].map((digit) => parseAddress(`0x${digit.repeat(40)}`)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const KEY = `0x02${"11".repeat(32)}` as const;

type Votes = {
  readonly validators?: VotesView["snapshot"]["votes"];
  readonly rules?: VotesView["parameters"]["votes"];
  readonly agreed?: Record<string, number>;
  readonly own?: Record<string, number>;
  readonly candidates?: Record<string, boolean>;
};

function linesOf({ validators = [], rules = [], agreed = {}, own = {}, candidates = {} }: Votes): string[] {
  const signers = Object.fromEntries([A, B, C, D].map((address) => [address, {}]));
  const text = renderVotes({
    snapshot: { number: 30_100, signers, votes: validators } as VotesView["snapshot"],
    parameters: { agreed, votes: rules, proposals: own },
    proposals: candidates,
  });
  return text.split("\n").map((line) => line.trim());
}

const call = (text: string) => `evmintd attach --exec '${text}'`;
const fork = (signer: Address, value: number) => ({ signer, block: 30_050, name: "osakaTime", value });

test("renderVotes names who has voted, who has not, the end of the votes, and the call that is missing", () => {
  assert.deepEqual(linesOf({ rules: [fork(A, 1_900_000_000), fork(B, 1_900_000_000)] }), [
    "4 validators; 3 votes decide; votes count until block 60000; the newest block is 30100",
    "",
    "osakaTime",
    `1900000000: 2 of 3 votes, ${A}, ${B}`,
    `not voted: ${C}, ${D}`,
    `call on ${C}, ${D}:`,
    call('clique.proposeFork("osaka", 1900000000)'),
    "",
  ]);
});

test("renderVotes says that votes differ, and asks those with another value for that of most", () => {
  const lines = linesOf({ rules: [fork(A, 1_900_000_001), fork(B, 1_900_000_000), fork(C, 1_900_000_000)] });
  assert.ok(lines.some((line) => line.startsWith("values differ")));
  assert.ok(lines.includes(`call on ${A}, ${D}:`));
  assert.equal(lines.at(-2), call('clique.proposeFork("osaka", 1900000000)'));
  const same = linesOf({ rules: [fork(A, 1_900_000_000), fork(B, 1_900_000_000)] });
  assert.ok(!same.some((line) => line.startsWith("values differ")));
});

test("renderVotes calls for rules and validators as the methods take them", () => {
  const rules = [{ signer: A, block: 30_001, name: "gasLimit", value: 45_000_000 }];
  assert.equal(linesOf({ rules }).at(-2), call('clique.proposeParameter("gasLimit", 45000000)'));
  const vote = { signer: A, block: 30_001, address: NEW, authorize: true, publicKey: KEY };
  assert.equal(linesOf({ validators: [vote] }).at(-2), call(`clique.propose("${NEW}", true, "${KEY}")`));
  const out = { signer: A, block: 30_001, address: D, authorize: false };
  assert.equal(linesOf({ validators: [out] }).at(-2), call(`clique.propose("${D}", false)`));
});

test("renderVotes has what this node casts before it is in a block, and nothing that is decided", () => {
  const own = { gasLimit: 45_000_000 };
  assert.ok(linesOf({ own }).some((line) => line.startsWith("this node votes 45000000")));
  assert.ok(linesOf({ own, agreed: own }).includes("no open votes"));
  assert.ok(linesOf({ candidates: { [A]: true, [NEW]: false } }).includes("no open votes"));
  assert.ok(linesOf({ candidates: { [NEW]: true } }).includes(`validator ${NEW}`));
});
