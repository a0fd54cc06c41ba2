import assert from "node:assert/strict";
import { test } from "node:test";
import { allForksAtGenesis } from "../base/params/blob-schedule.ts";
import { forkId } from "../base/params/fork-id.ts";
import { ZERO_HASH } from "../base/primitives/hash.ts";
import { forkConfigs } from "./fork-config.ts";

const GENESIS = { hash: ZERO_HASH, header: { timestamp: 100 } };
const BPO = { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671n };
const OSAKA = allForksAtGenesis(1n);

test("forkConfigs has the contracts of Amsterdam and the blob limits of the newest blob parameter fork from its time on", () => {
  const blobSchedule = { ...OSAKA.blobSchedule, bpo1: BPO };
  const config = { ...OSAKA, bpo1Time: 150, amsterdamTime: 200, blobSchedule };
  const { current, next, last } = forkConfigs(config, GENESIS, 199);
  assert.equal(current?.activationTime, 150);
  assert.equal(current?.systemContracts.size, 5);
  assert.deepEqual(last, next);
  assert.equal(next?.activationTime, 200);
  assert.equal(next?.blobSchedule, BPO);
  assert.equal(next?.forkId, forkId(config, ZERO_HASH, 100, 9, 200).hash);
  assert.deepEqual(next?.precompiles, current?.precompiles);
  const added = [...next!.systemContracts].filter(([name]) => !current!.systemContracts.has(name));
  assert.deepEqual(added, [
    ["BUILDER_DEPOSIT_CONTRACT_ADDRESS", "0x0000bff46984e3725691fa540a8c7589300d8282"],
    ["BUILDER_EXIT_CONTRACT_ADDRESS", "0x000064d678505ad48f8ccb093bc65613800e8282"],
  ]);
  assert.deepEqual(forkConfigs(config, GENESIS, 200), { current: next, next: undefined, last: undefined });
});

test("forkConfigs takes the forks by time: the third blob parameter fork may come before Amsterdam, and one may be left out", () => {
  const blobSchedule = { ...OSAKA.blobSchedule, bpo1: BPO, bpo3: { ...BPO, max: 32 } };
  const config = { ...OSAKA, bpo1Time: 90, bpo3Time: 150, amsterdamTime: 200, blobSchedule };
  const timesAt = (head: number) => {
    const { current, next, last } = forkConfigs(config, GENESIS, head);
    return [current, next, last].map((it) => it?.activationTime);
  };
  assert.deepEqual(timesAt(100), [0, 150, 200]);
  assert.deepEqual(timesAt(150), [150, 200, 200]);
  assert.deepEqual(timesAt(200), [200, undefined, undefined]);
  assert.equal(forkConfigs(config, GENESIS, 200).current?.blobSchedule?.max, 32);
});
