import assert from "node:assert/strict";
import { test } from "node:test";
import { headerOf } from "../../../../test/support/evm/execution/factories.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { nextDifficulty } from "./validate-header.ts";

const mainnet: ChainConfig = {
  chainId: 1n,
  homesteadBlock: 1_150_000,
  byzantiumBlock: 4_370_000,
  constantinopleBlock: 7_280_000,
  muirGlacierBlock: 9_200_000,
  londonBlock: 12_965_000,
  arrowGlacierBlock: 13_773_000,
  grayGlacierBlock: 15_050_000,
  blobSchedule: {},
};

test("nextDifficulty gives mainnet's first block its difficulty", () => {
  const genesis = headerOf({ difficulty: 17_179_869_184n, timestamp: 0 });
  assert.equal(nextDifficulty(1_438_269_988, genesis, mainnet), 17_171_480_576n);
});

test("nextDifficulty steps by elapsed time, differently in each era", () => {
  const difficulty = 2n ** 31n;
  const step = 2n ** 20n;
  const after = (number: number, elapsed: number, sha3Uncles = headerOf().sha3Uncles) =>
    nextDifficulty(100 + elapsed, headerOf({ number, difficulty, timestamp: 100, sha3Uncles }), mainnet);
  assert.equal(after(1, 12), difficulty + step);
  assert.equal(after(1, 13), difficulty - step);
  const homesteadBomb = 2n ** 9n;
  assert.equal(after(1_150_000, 9), difficulty + step + homesteadBomb);
  assert.equal(after(1_150_000, 29), difficulty - step + homesteadBomb);
  const byzantiumBomb = 2n ** 11n;
  assert.equal(after(4_370_000, 8), difficulty + step + byzantiumBomb);
  assert.equal(after(4_370_000, 8, ZERO_HASH), difficulty + 2n * step + byzantiumBomb);
});

test("nextDifficulty falls by at most 99 steps and never below the minimum", () => {
  const parent = headerOf({ number: 1_150_000, difficulty: 2n ** 31n, timestamp: 0 });
  const bomb = 2n ** 9n;
  assert.equal(nextDifficulty(1_000_000, parent, mainnet), 2n ** 31n - 99n * 2n ** 20n + bomb);
  const least = headerOf({ number: 1, difficulty: 131_072n, timestamp: 0 });
  assert.equal(nextDifficulty(1_000, least, mainnet), 131_072n);
});

test("nextDifficulty delays the bomb by what each fork says", () => {
  const bombAt = (number: number) => {
    const parent = headerOf({ number: number - 1, difficulty: 2n ** 53n, timestamp: 0 });
    return nextDifficulty(9, parent, mainnet) - 2n ** 53n;
  };
  assert.equal(bombAt(7_280_000), 2n ** 20n);
  assert.equal(bombAt(9_200_000), 1n);
  assert.equal(bombAt(12_965_000), 2n ** 30n);
  assert.equal(bombAt(13_773_000), 2n ** 28n);
  assert.equal(bombAt(15_050_000), 2n ** 34n);
});
