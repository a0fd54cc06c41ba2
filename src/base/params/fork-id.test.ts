import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hash } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { allForksAtGenesis } from "./blob-schedule.ts";
import type { ChainConfig } from "./chain-config.ts";
import { ForkHashes, forkId } from "./fork-id.ts";

const MAINNET_GENESIS = "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3" as Hash;
const MAINNET: ChainConfig = {
  chainId: 1n,
  homesteadBlock: 1_150_000,
  daoForkBlock: 1_920_000,
  daoForkSupport: true,
  eip150Block: 2_463_000,
  eip155Block: 2_675_000,
  eip158Block: 2_675_000,
  byzantiumBlock: 4_370_000,
  constantinopleBlock: 7_280_000,
  petersburgBlock: 7_280_000,
  istanbulBlock: 9_069_000,
  muirGlacierBlock: 9_200_000,
  berlinBlock: 12_244_000,
  londonBlock: 12_965_000,
  arrowGlacierBlock: 13_773_000,
  grayGlacierBlock: 15_050_000,
  shanghaiTime: 1_681_338_455,
  cancunTime: 1_710_338_135,
  pragueTime: 1_746_612_311,
  osakaTime: 1_764_798_551,
  bpo1Time: 1_765_290_071,
  bpo2Time: 1_767_747_671,
  blobSchedule: {},
};

// EIP-2124 "Test cases" and, from Shanghai on, the published identifiers of mainnet.
for (const [number, time, hash, next] of [
  [0, 0, "0xfc64ec04", 1_150_000],
  [1_149_999, 0, "0xfc64ec04", 1_150_000],
  [1_150_000, 0, "0x97c2c34c", 1_920_000],
  [1_920_000, 0, "0x91d1f948", 2_463_000],
  [2_463_000, 0, "0x7a64da13", 2_675_000],
  [2_675_000, 0, "0x3edd5b10", 4_370_000],
  [4_370_000, 0, "0xa00bc324", 7_280_000],
  [7_280_000, 0, "0x668db0af", 9_069_000],
  [9_069_000, 0, "0x879d6e30", 9_200_000],
  [9_200_000, 0, "0xe029e991", 12_244_000],
  [12_244_000, 0, "0x0eb440f6", 12_965_000],
  [12_965_000, 0, "0xb715077d", 13_773_000],
  [13_773_000, 0, "0x20c327fc", 15_050_000],
  [15_050_000, 0, "0xf0afd0e3", 1_681_338_455],
  [20_000_000, 1_681_338_455, "0xdce96c2d", 1_710_338_135],
  [20_000_000, 1_710_338_135, "0x9f3d2254", 1_746_612_311],
  [20_000_000, 1_746_612_311, "0xc376cf8b", 1_764_798_551],
  [20_000_000, 1_764_798_551, "0x5167e2a6", 1_765_290_071],
  [20_000_000, 1_765_290_071, "0xcba2a1c0", 1_767_747_671],
  [20_000_000, 1_767_747_671, "0x07c9462e", 0],
] as const) {
  test(`forkId of mainnet at block ${number}, time ${time}`, () => {
    assert.deepEqual(forkId(MAINNET, MAINNET_GENESIS, 0, number, time), { hash, next });
  });
}

test("forkId of Sepolia counts Amsterdam", () => {
  const sepolia = {
    chainId: 11_155_111n,
    mergeNetsplitBlock: 1_735_371,
    shanghaiTime: 1_677_557_088,
    cancunTime: 1_706_655_072,
    pragueTime: 1_741_159_776,
    osakaTime: 1_760_427_360,
    bpo1Time: 1_761_017_184,
    bpo2Time: 1_761_607_008,
    amsterdamTime: 1_791_294_816,
    blobSchedule: {},
  };
  const genesis = "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9" as Hash;
  const at = (time: number) => forkId(sepolia, genesis, 1_633_267_481, 8_000_000, time);
  assert.deepEqual(at(1_791_294_816), { hash: "0x6c1d9423", next: 0 });
  assert.equal(at(1_791_294_815).next, 1_791_294_816);
});

test("forkId leaves out forks that are a part of genesis", () => {
  const dev = allForksAtGenesis(1337n);
  const base = forkId(dev, MAINNET_GENESIS, 0, 5, 100);
  assert.deepEqual(base, { hash: "0xfc64ec04", next: 0 });
  const later = { ...dev, osakaTime: 50 };
  assert.deepEqual(forkId(later, MAINNET_GENESIS, 50, 5, 100), base);
  assert.deepEqual(forkId(later, MAINNET_GENESIS, 10, 0, 10), { hash: "0xfc64ec04", next: 50 });
  assert.notEqual(forkId(later, MAINNET_GENESIS, 10, 5, 100).hash, base.hash);
});

test("ForkHashes follow EIP-2124 at each time of the schedule", () => {
  const config = { ...allForksAtGenesis(1337n), pragueTime: 50, osakaTime: 80 };
  const genesis = { config, genesisHash: MAINNET_GENESIS, genesisTime: 10 };
  const hashes = new ForkHashes(genesis);
  assert.ok(hashes.isScheduled);
  for (const [time, hasBegun] of [
    [10, false],
    [49, false],
    [50, true],
    [79, true],
    [80, true],
    [1_000, true],
  ] as const) {
    const { hash } = forkId(config, MAINNET_GENESIS, 10, Number.MAX_SAFE_INTEGER, time);
    assert.equal(bytesToHex(hashes.at(time)), hash);
    assert.equal(hashes.hasBegun(time), hasBegun);
  }
  const without = new ForkHashes({ ...genesis, genesisTime: 80 });
  assert.ok(!without.isScheduled && !without.hasBegun(1_000));
  assert.deepEqual(without.at(1_000), hashes.at(10));
});
