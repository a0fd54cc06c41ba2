import assert from "node:assert/strict";
import { test } from "node:test";
import { testChain } from "../../../test/support/evm/execution/factories.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { AMSTERDAM_GAS_LIMIT_MIN } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import { type Hash, ZERO_HASH } from "../../base/primitives/hash.ts";
import {
  type Agreement,
  NO_AGREEMENT,
  type Parameter,
  readAgreement,
  writeAgreement,
} from "../../chain/agreement/agreement.ts";
import { createWorldState } from "../../evm/state/world-state.ts";
import { countParameterVote, FORK_NOTICE_SECONDS, whyRefused } from "./parameters.ts";
import { EPOCH_BLOCKS, VOTES_PER_SIGNER_MAX } from "./snapshot.ts";

const SIGNERS = ["a", "b", "c", "d"].map((digit) => ({ address: `0x${digit.repeat(40)}` as Address }));
const NOW = 1_000_000;
const CONFIG = { chainId: 1n, blobSchedule: {}, pragueTime: NOW };
const FORK = BigInt(NOW + FORK_NOTICE_SECONDS);

type Ballot = readonly [signer: number, name: string, value: bigint];

function count(
  ballots: readonly Ballot[],
  options: { from?: Agreement; signers?: typeof SIGNERS; block?: number } = {},
) {
  const { from = NO_AGREEMENT, signers = SIGNERS, block = 1 } = options;
  return ballots.reduce((agreement, [signer, name, value], index) => {
    const address = SIGNERS[signer]!.address;
    const cast = { name, value, signer: address, block: block + index };
    return countParameterVote(agreement, cast, { signers, startingSetHash: ZERO_HASH, timestamp: NOW, config: CONFIG });
  }, from);
}

test("more than half of the validators decide on one value, and their votes are spent", () => {
  const open = count([
    [0, "gasLimit", 50_000n],
    [1, "gasLimit", 50_000n],
    [2, "gasLimit", 60_000n],
  ]);
  assert.deepEqual(open.values, []);
  assert.equal(open.votes.length, 3);
  const decided = count([[3, "gasLimit", 50_000n]], { from: open, block: 4 });
  assert.deepEqual(decided, { values: [{ name: "gasLimit", value: 50_000n }], votes: [], startingSetHash: ZERO_HASH });
});

test("only the newest vote of a validator counts, within its epoch and starting set", () => {
  const changed = count([
    [0, "gasLimit", 50_000n],
    [0, "gasLimit", 60_000n],
    [1, "gasLimit", 50_000n],
    [2, "gasLimit", 50_000n],
  ]);
  assert.deepEqual(changed.values, []);
  const three = SIGNERS.slice(0, 3);
  assert.deepEqual(count([[3, "gasLimit", 50_000n]], { signers: three }).votes, []);
  const two: readonly Ballot[] = [
    [0, "minimumTip", 5n],
    [1, "minimumTip", 5n],
  ];
  const late = count([[2, "minimumTip", 5n]], { from: count(two), block: EPOCH_BLOCKS + 1 });
  assert.equal(late.votes.length, 1);
  const other = { ...count(two), startingSetHash: `0x${"1".repeat(64)}` as Hash };
  assert.equal(count([[2, "minimumTip", 5n]], { from: other, block: 3 }).votes.length, 1);
});

test("votes of validators that were dropped do not decide", () => {
  const from = count([
    [0, "minimumTip", 5n],
    [1, "minimumTip", 5n],
  ]);
  const left = SIGNERS.slice(2);
  assert.deepEqual(count([[2, "minimumTip", 5n]], { from, signers: left, block: 3 }).values, []);
});

test("0 ends an agreement, but is a least tip", () => {
  const one = { signers: SIGNERS.slice(0, 1) };
  const from = count(
    [
      [0, "gasLimit", 50_000n],
      [0, "minimumTip", 0n],
      [0, "bpo1Time", FORK],
      [0, "gasLimit", 0n],
    ],
    one,
  );
  assert.deepEqual(from.values, [
    { name: "minimumTip", value: 0n },
    { name: "bpo1Time", value: FORK },
  ]);
  const back = count([[0, "bpo1Time", 0n]], { ...one, from, block: 5 });
  assert.deepEqual(back.values.at(-1), { name: "bpo1Time", value: 0n });
});

test("forks are agreed on in time, in their order, and whether the program knows them or not", () => {
  const values = [
    { name: "osakaTime", value: FORK + 100n },
    { name: "bpo2Time", value: 0n },
    { name: "amsterdamTime", value: FORK + 200n },
  ];
  const isRefused = (name: string, value: bigint, timestamp = NOW) =>
    whyRefused({ values }, { name, value }, { timestamp, config: CONFIG }) !== undefined;
  for (const [name, value, timestamp] of [
    ["bpo1Time", FORK],
    ["bpo1Time", FORK + 199n],
    ["osakaTime", FORK + 201n],
    ["osakaTime", FORK + 100n],
    ["osakaTime", FORK - 1n],
    ["amsterdamTime", FORK + 99n],
    ["bpo2Time", 0n],
    ["bpo1Time", 2n ** 53n],
    ["pragueTime", FORK + 300n],
    ["osakaTime", 0n, NOW + 101],
    ["osakaTime", FORK + 150n, NOW + 101],
    ["Time", FORK + 300n],
  ] as const) {
    assert.ok(isRefused(name, value, timestamp), `${name} ${value}`);
  }
  for (const [name, value] of [
    ["bpo1Time", FORK + 200n],
    ["osakaTime", FORK],
    ["osakaTime", FORK + 200n],
    ["amsterdamTime", FORK + 100n],
    ["osakaTime", 0n],
    ["bpo1Time", 0n],
    ["bpo2Time", FORK + 150n],
  ] as const) {
    assert.ok(!isRefused(name, value), `${name} ${value}`);
  }
});

test("Amsterdam and a gas limit without room for its access lists exclude each other, whichever is agreed on first", () => {
  const amsterdam = { name: "amsterdamTime", value: FORK };
  const limit = (value: bigint) => ({ name: "gasLimit", value });
  const least = AMSTERDAM_GAS_LIMIT_MIN;
  const isRefused = (values: readonly Parameter[], parameter: Parameter, config: ChainConfig = CONFIG) =>
    whyRefused({ values }, parameter, { timestamp: NOW, config }) !== undefined;
  const began = { ...CONFIG, amsterdamTime: NOW };
  const takenBack = { ...amsterdam, value: 0n };
  for (const [expected, values, parameter, config] of [
    [true, [amsterdam], limit(least - 1n)],
    [false, [amsterdam], limit(least)],
    [false, [amsterdam, limit(least)], limit(0n)],
    [true, [], limit(least - 1n), began],
    [false, [], limit(least - 1n)],
    [false, [takenBack], limit(least - 1n), began],
    [true, [limit(least - 1n)], amsterdam],
    [false, [limit(least - 1n)], { name: "osakaTime", value: FORK }],
    [false, [limit(least - 1n), amsterdam], takenBack],
    [false, [limit(least)], amsterdam],
  ] as readonly (readonly [boolean, readonly Parameter[], Parameter, ChainConfig?])[]) {
    assert.equal(isRefused(values, parameter, config), expected, `${parameter.name} ${parameter.value}`);
  }
});

test("values out of bounds and unknown names count for nothing", () => {
  const one = { signers: SIGNERS.slice(0, 1) };
  for (const [name, value] of [
    ["gasLimit", 20_999n],
    ["gasLimit", 2n ** 53n],
    ["minimumTip", 2n ** 63n],
    ["blockPeriodMs", 49n],
    ["evidenceAgeSeconds", 3_599n],
    ["gasLimits", 30_000_000n],
    ["gasLimit", 0n],
  ] as const) {
    const after = count([[0, name, value]], one);
    assert.deepEqual([after.values, after.votes], [[], []], `${name} ${value}`);
  }
});

test("a validator has a bounded number of open votes", () => {
  const ballots = Array.from({ length: VOTES_PER_SIGNER_MAX + 3 }, (_, i) => [0, `fork${i}Time`, FORK] as const);
  assert.equal(count(ballots).votes.length, VOTES_PER_SIGNER_MAX);
});

test("readAgreement inverts writeAgreement", () => {
  const state = createWorldState(testChain().state);
  assert.deepEqual(readAgreement(state.asReader()), NO_AGREEMENT);
  for (const agreement of [
    count([
      [0, "minimumTip", 0n],
      [1, "minimumTip", 0n],
      [2, "minimumTip", 0n],
      [0, "osakaTime", FORK],
      [1, "gasLimit", 2n ** 52n],
    ]),
    NO_AGREEMENT,
  ]) {
    writeAgreement(agreement, state);
    assert.deepEqual(readAgreement(state.asReader()), agreement);
  }
});
