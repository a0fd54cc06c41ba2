import assert from "node:assert/strict";
import { test } from "node:test";
import {
  concatHex,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  parseAbi,
  stringToBytes,
  toFunctionSelector,
} from "viem";
import { TRANSFER_TOPIC } from "../../src/base/types/transfer-log.ts";
import { FIRST_ADDRESSES, FIRST_KEYS } from "../../src/dev/first-dev-keys.ts";
import { DEV_ACCOUNTS } from "../../src/node/keystore/dev-accounts.ts";
import { COMMON_FUNCTIONS } from "../../src/web/explorer/ui/contracts/common-functions.ts";
import { clippedName, functionNames } from "../../src/web/explorer/ui/contracts/known-contracts.ts";
import { methodName } from "../../src/web/explorer/ui/contracts/method-name.ts";
import { etherShort, percentText } from "../../src/web/explorer/ui/format.ts";
import { addressIn, BEACON_SLOT, IMPLEMENTATION, SLOTS } from "../../src/web/explorer/ui/proxy.ts";
import type { Log } from "../../src/web/explorer/ui/rpc.ts";
import { holdersOf, movementsIn, TRANSFER_BATCH, TRANSFER_SINGLE } from "../../src/web/explorer/ui/tokens/holders.ts";

test("the selectors of common functions are those of their signatures", () => {
  for (const [selector, signature] of Object.entries(COMMON_FUNCTIONS)) {
    assert.equal(toFunctionSelector(`function ${signature}`), `0x${selector}`, signature);
  }
});

test("a method is the name of a common function, its selector, or what a transaction does without one", () => {
  const to = `0x${"11".repeat(20)}`;
  assert.equal(methodName(to, "0xa9059cbb0000"), "transfer");
  assert.equal(methodName(to, "0xA9059CBB"), "transfer");
  assert.equal(methodName(to, "0x12345678"), "0x12345678");
  assert.equal(methodName(to, "0x"), "send");
  assert.equal(methodName(to, "0x1234"), "send");
  assert.equal(methodName(null, "0x6000"), "create");
  // Not a property of every object.
  assert.equal(methodName(to, "0xconstructor"), "0xconstruc");
});

test("names of functions are read of an ABI, whatever else is in it", () => {
  const abi = [
    { type: "function", name: "f", inputs: [{ type: "uint256" }] },
    { type: "function", name: "g", inputs: [{ type: 5 }] },
    { type: "event", name: "E" },
  ] as never;
  assert.deepEqual([...functionNames(abi)], [[toFunctionSelector("function f(uint256)"), "f"]]);
});

test("a name is clipped by characters, not inside one", () => {
  assert.equal(clippedName("Token"), "Token");
  assert.equal(clippedName("😀".repeat(40)), `${"😀".repeat(32)}…`);
});

const text = (value: string) => keccak256(stringToBytes(value));
const before = (hash: string) => `0x${(BigInt(hash) - 1n).toString(16).padStart(64, "0")}`;

test("the slots of proxies are those of their standards", () => {
  assert.deepEqual(
    SLOTS.map(([slot]) => slot),
    [before(text("eip1967.proxy.implementation")), text("PROXIABLE"), text("org.zeppelinos.proxy.implementation")],
  );
  assert.equal(BEACON_SLOT, before(text("eip1967.proxy.beacon")));
  assert.equal(IMPLEMENTATION, toFunctionSelector("function implementation()"));
});

test("a word has an address where it has twelve zero bytes before it, and is not zero", () => {
  const address = `0x${"ab".repeat(20)}`;
  assert.equal(addressIn(`0x${"0".repeat(24)}${"AB".repeat(20)}`), address);
  for (const other of [
    `0x${"0".repeat(64)}`,
    `0x1${"0".repeat(23)}${"ab".repeat(20)}`,
    address,
    "0x",
    undefined,
    "x",
  ]) {
    assert.equal(addressIn(other), undefined);
  }
});

test("an amount that is not zero does not look like zero", () => {
  for (const [wei, shown] of [
    [0n, "0 ETH"],
    [1n, "1 wei"],
    [999_999n, "999,999 wei"],
    [1_000_000n, "0.001 gwei"],
    [15n * 10n ** 8n, "1.5 gwei"],
    [10n ** 12n, "0.000001 ETH"],
    [15n * 10n ** 17n, "1.5 ETH"],
  ] as const) {
    assert.equal(etherShort(wei), shown);
  }
});

test("a share that is not zero, or not all, does not look like it", () => {
  assert.deepEqual(
    [percentText(0, 10), percentText(1, 1_000_000), percentText(1, 4), percentText(99_999, 100_000), percentText(5, 5)],
    ["0 %", "< 0.1 %", "25.0 %", "99.9 %", "100 %"],
  );
  assert.equal(percentText(1, 0), "0 %");
});

const EVENTS = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
]);
const [A, B] = [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`] as const;
const ZERO = `0x${"00".repeat(20)}` as const;

const logOf = (topics: readonly unknown[], data: string) => ({ topics, data }) as unknown as Log;
const erc20 = (from: `0x${string}`, to: `0x${string}`, value: bigint) =>
  logOf(
    encodeEventTopics({ abi: EVENTS, eventName: "Transfer", args: { from, to } }),
    encodeAbiParameters([{ type: "uint256" }], [value]),
  );
const batch = (from: `0x${string}`, to: `0x${string}`, ids: readonly bigint[], amounts: readonly bigint[]) =>
  logOf(
    encodeEventTopics({ abi: EVENTS, eventName: "TransferBatch", args: { operator: A, from, to } }),
    encodeAbiParameters([{ type: "uint256[]" }, { type: "uint256[]" }], [ids, amounts]),
  );

test("topics of transfers are those of their signatures", () => {
  const topicOf = (eventName: "Transfer" | "TransferSingle" | "TransferBatch") =>
    encodeEventTopics({ abi: EVENTS, eventName })[0];
  assert.deepEqual(
    [TRANSFER_TOPIC, TRANSFER_SINGLE, TRANSFER_BATCH],
    [topicOf("Transfer"), topicOf("TransferSingle"), topicOf("TransferBatch")],
  );
});

test("holders of an ERC-20 are who got more than they gave, the largest first", () => {
  const logs = [erc20(ZERO, A, 100n), erc20(A, B, 70n), erc20(B, ZERO, 5n), erc20(A, A, 1n)];
  assert.deepEqual(holdersOf(movementsIn(logs)), [
    { address: B, amount: 65n, ids: 0 },
    { address: A, amount: 30n, ids: 0 },
  ]);
});

test("holders of tokens with ids are counted by id", () => {
  const id = (value: bigint) => encodeAbiParameters([{ type: "uint256" }], [value]);
  const erc721 = (from: string, to: `0x${string}`, token: bigint) =>
    logOf([...erc20(from as `0x${string}`, to, 0n).topics, id(token)], "0x");
  assert.deepEqual(holdersOf(movementsIn([erc721(ZERO, A, 1n), erc721(ZERO, A, 2n), erc721(A, B, 1n)])), [
    { address: A, amount: 1n, ids: 1 },
    { address: B, amount: 1n, ids: 1 },
  ]);
  assert.deepEqual(holdersOf(movementsIn([batch(ZERO, A, [1n, 2n], [10n, 20n]), batch(A, B, [2n], [20n])])), [
    { address: B, amount: 20n, ids: 1 },
    { address: A, amount: 10n, ids: 1 },
  ]);
});

test("logs that only look like transfers move nothing", () => {
  const whole = batch(ZERO, A, [1n], [1n]);
  const data = whole.data.slice(2).match(/.{64}/g)!;
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  const changed = (index: number, value: bigint) => ({
    ...whole,
    data: `0x${data.map((each, i) => (i === index ? word(value) : each)).join("")}`,
  });
  assert.equal(movementsIn([whole]).length, 1);
  const others = [
    ...[0n, 1n, 2n ** 255n].map((value) => changed(0, value)),
    changed(2, 2n ** 255n),
    changed(2, 2n),
    { ...whole, data: "0x" },
    { ...whole, data: `0x${"zz".repeat(192)}` },
    { ...whole, topics: whole.topics.slice(0, 2) },
    { ...erc20(A, B, 1n), data: "0x01" },
    { ...erc20(A, B, 1n), topics: [] },
    logOf([TRANSFER_TOPIC, A], concatHex(["0x"])),
  ];
  for (const log of others) assert.deepEqual(movementsIn([log as unknown as Log]), []);
});

test("keys on the page of a dev chain are those of its accounts", () => {
  assert.deepEqual(
    DEV_ACCOUNTS.map(({ address, privateKey }) => [address, privateKey]),
    FIRST_ADDRESSES.map((address, i) => [address, FIRST_KEYS[i]]),
  );
});
