import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { modelRemoteChain, REMOTE_CHAIN_ID } from "../../../test/support/remote-chain.ts";
import { configJson } from "../../../test/support/remote-config.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { EMPTY_REQUESTS_HASH } from "../../base/types/constants.ts";
import type { Header } from "../../base/types/header.ts";
import { ForkFileError } from "./errors.ts";
import { loadForkChoice, storeForkChoice } from "./fork-point.ts";
import { remoteRulesOf, type ShownHardfork } from "./remote-rules.ts";

const CHAIN_ID = BigInt(REMOTE_CHAIN_ID);
const folder = mkdtempSync(join(tmpdir(), "evmint-remote-rules-"));
after(() => rmSync(folder, { recursive: true }));

const AMSTERDAM = { blockAccessListHash: hashFromBigint(1n), slotNumber: 5n };
const FIELDS: Readonly<Record<ShownHardfork, Partial<Header>>> = {
  cancun: {},
  prague: { requestsHash: EMPTY_REQUESTS_HASH },
  osaka: { requestsHash: EMPTY_REQUESTS_HASH },
  amsterdam: { requestsHash: EMPTY_REQUESTS_HASH, ...AMSTERDAM },
};

function blockOf(hardfork: ShownHardfork) {
  const { header, hash } = modelRemoteChain(new Map(), FIELDS[hardfork]);
  if (hardfork !== "cancun") return { chainId: CHAIN_ID, header, hash };
  const { requestsHash: _, ...cancun } = header;
  return { chainId: CHAIN_ID, header: cancun, hash };
}

const current = (hardfork: ShownHardfork, members: object = {}) => ({
  current: { ...configJson(hardfork).current, ...members },
});

test("remoteRulesOf knows each fork by its precompiles and system contracts, and its blob schedule", () => {
  for (const hardfork of Object.keys(FIELDS) as ShownHardfork[]) {
    const { rules, unknown } = remoteRulesOf(configJson(hardfork), blockOf(hardfork));
    assert.deepEqual([rules?.hardfork, unknown], [hardfork, []]);
  }
  const bpo2 = { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 };
  const { rules } = remoteRulesOf(current("osaka", { blobSchedule: bpo2 }), blockOf("osaka"));
  assert.deepEqual(rules, { hardfork: "osaka", blobSchedule: "bpo2" });
});

test("remoteRulesOf names contracts and blob schedules that this version does not know, also those of the next fork", () => {
  const { current: own } = configJson("amsterdam");
  const later = {
    ...own,
    precompiles: { ...own.precompiles, FROBNICATE: "0x0000000000000000000000000000000000000200" },
  };
  const blobSchedule = { target: 48, max: 72, baseFeeUpdateFraction: 1 };
  const block = blockOf("amsterdam");
  assert.deepEqual(remoteRulesOf({ current: later }, block), {
    rules: { hardfork: "amsterdam", blobSchedule: "prague" },
    unknown: ["FROBNICATE"],
  });
  assert.deepEqual(remoteRulesOf({ current: { ...own, blobSchedule } }, block), {
    rules: { hardfork: "amsterdam" },
    unknown: ["blob schedule 48/72/1"],
  });
  const next = { ...later, activationTime: 1_800_000_000 };
  assert.deepEqual(remoteRulesOf({ current: own, next }, block).unknown, ["FROBNICATE from 2027-01-15T08:00:00.000Z"]);
});

test("remoteRulesOf has no rules of a block before the configuration, or whose header contradicts it", () => {
  const block = blockOf("osaka");
  assert.equal(
    remoteRulesOf(current("osaka", { activationTime: block.header.timestamp }), block).rules?.hardfork,
    "osaka",
  );
  for (const [json, each] of [
    [current("osaka", { activationTime: block.header.timestamp + 1 }), block],
    [current("amsterdam"), block],
    [current("osaka"), blockOf("amsterdam")],
    [current("osaka"), blockOf("cancun")],
    [current("cancun"), block],
  ] as const) {
    assert.equal(remoteRulesOf(json, each).rules, undefined);
  }
});

test("remoteRulesOf takes no rules from an answer in another form", () => {
  const block = blockOf("osaka");
  for (const json of [
    ...[undefined, null, 1, "0x", [], {}, { current: null }, { current: [] }, { current: "osaka" }],
    ...[undefined, null, "0x1", 1337, {}].map((chainId) => current("osaka", { chainId })),
    ...[undefined, "0x0", -1, 0.5, 2 ** 40, Number.NaN].map((activationTime) => current("osaka", { activationTime })),
    ...[undefined, null, 7, { "\u001b[31m": "0x1" }].map((precompiles) => current("osaka", { precompiles })),
    ...[undefined, null, {}].map((systemContracts) => current("osaka", { systemContracts })),
    ...[undefined, null, {}, { target: "6", max: 9, baseFeeUpdateFraction: 1 }].map((blobSchedule) =>
      current("osaka", { blobSchedule }),
    ),
  ]) {
    assert.deepEqual(remoteRulesOf(json, block), { rules: undefined, unknown: [] }, JSON.stringify(json));
  }
});

test("a home keeps the rules of the remote chain, and rejects those of a later version", () => {
  const file = join(folder, "fork.json");
  const point = { ...blockOf("osaka"), alloc: new Map() };
  for (const rules of [undefined, { hardfork: "osaka" }, { hardfork: "osaka", blobSchedule: "bpo2" }] as const) {
    storeForkChoice(file, { point: { ...point, rules }, isVerified: true });
    assert.deepEqual(loadForkChoice(file)?.point.rules, rules);
  }
  const later = { hardfork: "osaka", blobSchedule: "constructor" } as const;
  storeForkChoice(file, { point: { ...point, rules: later }, isVerified: true });
  assert.throws(() => loadForkChoice(file), ForkFileError);
});
