import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fixture, skipWithout } from "../../../test/support/fixtures.ts";
import { parseAddress } from "../primitives/address.ts";
import { hashFromBigint } from "../primitives/hash.ts";
import { decodeBlockAt } from "../types/block-codec.ts";
import { blobParamsAt } from "./blob-schedule.ts";
import { genesisFromJson, parseGenesis } from "./genesis.ts";
import type { InvalidGenesisError } from "./genesis-json.ts";
import { hardforkAt } from "./hardforks.ts";

const file = fixture("rpc-compat", "genesis.json");
const chain = fixture("rpc-compat", "chain.rlp");
const skip = skipWithout(file && chain, "rpc-compat");

const minimal = {
  config: { chainId: 1337 },
  difficulty: "0x0",
  gasLimit: "0x1c9c380",
  alloc: {},
};

test("parseGenesis reads a genesis with every fork at its own height", { skip }, () => {
  const genesis = parseGenesis(readFileSync(file!, "utf8"));
  assert.equal(genesis.config.chainId, 3503995874084926n);
  assert.equal(genesis.config.terminalTotalDifficulty, 4_732_352n);
  assert.equal(genesis.gasLimit, 100_000_000n);
  assert.deepEqual(genesis.config.blobSchedule["bpo2"], {
    target: 14,
    max: 21,
    baseFeeUpdateFraction: 11_684_671n,
  });
  const history = genesis.alloc.get(parseAddress("0x0000f90827f1c53a10cb7a02335b175320002935"));
  assert.ok(history?.code && history.code.length > 0);
});

test("hardforkAt follows a chain through its schedule", { skip }, () => {
  const { config } = parseGenesis(readFileSync(file!, "utf8"));
  const bytes = new Uint8Array(readFileSync(chain!));
  const firsts: Record<string, number> = {};
  for (let at = 0; at < bytes.length; ) {
    const { block, end } = decodeBlockAt(bytes, at);
    firsts[hardforkAt(config, block.header)] ??= block.header.number;
    at = end;
  }
  assert.deepEqual(firsts, {
    homestead: 1,
    tangerineWhistle: 3,
    spuriousDragon: 6,
    byzantium: 9,
    constantinople: 12,
    petersburg: 15,
    istanbul: 18,
    berlin: 24,
    london: 27,
    paris: 36,
    shanghai: 39,
    cancun: 42,
    prague: 45,
    osaka: 48,
  });
});

test("hardforkAt is past the merge from genesis on when the terminal total difficulty is 0", () => {
  const { config } = genesisFromJson({
    ...minimal,
    config: { chainId: 1, ...allBlocks(0), terminalTotalDifficulty: 0 },
  });
  assert.equal(hardforkAt(config, { number: 0, timestamp: 0, difficulty: 0n }), "paris");
  const pow = { ...config, terminalTotalDifficulty: 1n };
  assert.equal(hardforkAt(pow, { number: 0, timestamp: 0, difficulty: 0n }), "london");
  assert.equal(hardforkAt(pow, { number: 1, timestamp: 9, difficulty: 5n }), "london");
  assert.equal(hardforkAt(pow, { number: 1, timestamp: 9, difficulty: 0n }), "paris");
});

test("hardforkAt has no fork by time before London, where only an overridden number leads", () => {
  const { config } = genesisFromJson({
    ...minimal,
    config: { chainId: 1, ...allBlocks(0), londonBlock: 5, shanghaiTime: 0 },
  });
  const at = (number: number) => hardforkAt(config, { number, timestamp: 9, difficulty: 0n });
  assert.equal(at(4), "berlin");
  assert.equal(at(5), "shanghai");
});

test("hardforkAt gives Petersburg with Constantinople where a config does not name it", () => {
  const { petersburgBlock: _, ...blocks } = allBlocks(0);
  const { istanbulBlock: __, berlinBlock: ___, londonBlock: ____, ...old } = blocks;
  const { config } = genesisFromJson({ ...minimal, config: { chainId: 1, ...old } });
  assert.equal(hardforkAt(config, { number: 1, timestamp: 0, difficulty: 1n }), "petersburg");
  const split = { ...config, petersburgBlock: 5 };
  assert.equal(hardforkAt(split, { number: 1, timestamp: 0, difficulty: 1n }), "constantinople");
});

function allBlocks(number: number) {
  return {
    homesteadBlock: number,
    eip150Block: number,
    eip155Block: number,
    eip158Block: number,
    byzantiumBlock: number,
    constantinopleBlock: number,
    petersburgBlock: number,
    istanbulBlock: number,
    berlinBlock: number,
    londonBlock: number,
  };
}

test("parseGenesis takes integers as numbers of any size, decimal and hex strings", () => {
  const genesis = parseGenesis(`{
    "config": { "chainId": 1, "terminalTotalDifficulty": 58750000000000000000000, "future": {"x": [1]} },
    "difficulty": 17179869184, "gasLimit": "5000", "timestamp": "0x10", "nonce": "0x42",
    "extraData": "0x1234567890123456789012345678901234", "unknown": 12345678901234567890,
    "alloc": {
      "0x00000000000000000000000000000000000000Aa": { "balance": 340282366920938463463374607431768211455, "nonce": 7 },
      "00000000000000000000000000000000000000bb": { "balance": "0x0", "code": "0x60", "storage": { "0x1": "0x02", "03": "", "0x04": "0x00" } }
    }
  }`);
  assert.equal(genesis.config.terminalTotalDifficulty, 58_750_000_000_000_000_000_000n);
  assert.equal(genesis.difficulty, 17_179_869_184n);
  assert.equal(genesis.gasLimit, 5000n);
  assert.equal(genesis.timestamp, 16);
  assert.deepEqual(genesis.nonce, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x42));
  const rich = genesis.alloc.get(parseAddress("0x00000000000000000000000000000000000000aa"));
  assert.equal(rich?.balance, 2n ** 128n - 1n);
  assert.equal(rich?.nonce, 7n);
  const contract = genesis.alloc.get(parseAddress("0x00000000000000000000000000000000000000bb"));
  assert.deepEqual(contract?.code, Uint8Array.of(0x60));
  assert.deepEqual([...(contract?.storage ?? [])], [[hashFromBigint(1n), 2n]]);
});

for (const [field, change] of [
  ["config", { config: undefined }],
  ["config.chainId", { config: {} }],
  ["config.chainId", { config: { chainId: "one" } }],
  ["config.homesteadBlock", { config: { chainId: 1, homesteadBlock: -1 } }],
  ["config.byzantiumBlock", { config: { chainId: 1, homesteadBlock: 0, byzantiumBlock: 1 } }],
  ["config.eip150Block", { config: { chainId: 1, homesteadBlock: 5, eip150Block: 4 } }],
  ["config.cancunTime", { config: { chainId: 1, ...allBlocks(0), cancunTime: 5 } }],
  [
    "config.blobSchedule.bpo5",
    { config: { chainId: 1, ...allBlocks(0), shanghaiTime: 0, cancunTime: 0, bpo5Time: 3 } },
  ],
  [
    "config.blobSchedule.cancun.max",
    { config: { chainId: 1, blobSchedule: { cancun: { target: 1, baseFeeUpdateFraction: 1 } } } },
  ],
  ...[1, 2, 3, 4, 5].map(
    (n) =>
      [
        `config.blobSchedule.bpo${n}`,
        { config: { chainId: 1, ...allBlocks(0), shanghaiTime: 0, cancunTime: 0, [`bpo${n}Time`]: 3 } },
      ] as const,
  ),
  ["config.bogotaTime", { config: { chainId: 1, bogotaTime: 0 } }],
  ["config.bogotaTime", { config: { chainId: 1, bogotaTime: "0x1" } }],
  ["config.amsterdamtime", { config: { chainId: 1, amsterdamtime: 0 } }],
  ["slotNumber", { slotNumber: "0x10000000000000000" }],
  ["config.pragueTme", { config: { chainId: 1, pragueTme: 0 } }],
  ["config.PragueTime", { config: { chainId: 1, PragueTime: 0 } }],
  ["config.londonblock", { config: { chainId: 1, londonblock: 0 } }],
  ["config.futureBlock", { config: { chainId: 1, futureBlock: 7 } }],
  ["config.chainid", { config: { chainId: 1, chainid: 2 } }],
  ["config.BlobSchedule", { config: { chainId: 1, BlobSchedule: {} } }],
  ["difficulty", { difficulty: null }],
  ["gasLimit", { gasLimit: undefined }],
  ["gasLimit", { gasLimit: "0x10000000000000000" }],
  ["timestamp", { timestamp: 1.5 }],
  ["extraData", { extraData: "0x123" }],
  ["coinbase", { coinbase: "0x12" }],
  ["alloc", { alloc: null }],
  ["alloc.0x12", { alloc: { "0x12": { balance: "0" } } }],
  [`alloc.${"00".repeat(20)}`, { alloc: { ["00".repeat(20)]: {} } }],
  [
    `alloc.${"00".repeat(20)}.storage.0x01`,
    { alloc: { ["00".repeat(20)]: { balance: 1, storage: { "0x01": `0x${"1".repeat(65)}` } } } },
  ],
] as const) {
  test(`genesisFromJson names ${field} when it is wrong: ${JSON.stringify(change).slice(0, 60)}`, () => {
    assert.throws(
      () => genesisFromJson({ ...minimal, ...change }),
      (error: { code?: string; details?: { field?: string } }) => {
        assert.equal(error.code, "INVALID_GENESIS");
        assert.equal(error.details?.field, field);
        return true;
      },
    );
  });
}

const A = "00000000000000000000000000000000000000aa";

for (const [field, alloc] of [
  [`alloc.0x${A.toUpperCase()}`, `"${A}":{"balance":"1"},"0x${A.toUpperCase()}":{"balance":"2"}`],
  [`alloc.${A}`, `"${A}":1`],
  [`alloc.${A}`, `"${A}":{"balance":null}`],
  [`alloc.${A}.balance`, `"${A}":{"balance":"${2n ** 256n}"}`],
  [`alloc.${A}.balance`, `"${A}":{"balance":-1}`],
  [`alloc.${A}.nonce`, `"${A}":{"balance":"1","nonce":"0x10000000000000000"}`],
  [`alloc.${A}.code`, `"${A}":{"balance":"1","code":"0x123"}`],
  [`alloc.${A}.storage`, `"${A}":{"balance":"1","storage":[]}`],
  [`alloc.${A}.storage.0x1g`, `"${A}":{"balance":"1","storage":{"0x1g":"0x2"}}`],
  ["alloc.__proto__", `"__proto__":{"balance":"1"}`],
  ["genesis", `"${A}":{"balance":"1"},`],
] as const) {
  test(`parseGenesis names ${field} of the file {${alloc.slice(0, 70)}}`, () => {
    assert.throws(
      () => parseGenesis(`{"config":{"chainId":1},"difficulty":"0x0","gasLimit":"0x1","alloc":{${alloc}}}`),
      (error: { code?: string; details?: { field?: string } }) => {
        assert.equal(error.code, "INVALID_GENESIS");
        assert.equal(error.details?.field, field);
        return true;
      },
    );
  });
}

test("parseGenesis takes accounts as geth and others write them", () => {
  for (const [balance, value] of [
    ["340282366920938463463374607431768211456", 2n ** 128n],
    [`"${2n ** 256n - 1n}"`, 2n ** 256n - 1n],
    [`"0x${"0".repeat(90)}1"`, 1n],
    ['""', 0n],
  ] as const) {
    const account = `{"secretKey":"0x12","code":null,"balance":${balance},"nonce":"0x00","storage":{}}`;
    const { alloc } = parseGenesis(
      `{"config":{"chainId":1},"difficulty":"0x0","gasLimit":"0x1","alloc":{"${A}":${account}}}`,
    );
    assert.equal(alloc.get(parseAddress(`0x${A}`))?.balance, value, balance);
  }
});

test("genesisFromJson rejects a genesis that is not block 0, with geth's texts", () => {
  assert.throws(() => genesisFromJson({ ...minimal, number: "0x1" }), {
    message: "invalid genesis: number: can't commit genesis block with number > 0",
  });
  genesisFromJson({ ...minimal, number: "0x0" });
});

test("genesisFromJson ignores keys that are no fork, and forks that never come", () => {
  const other = { chainId: 1, clique: { period: 5 }, eip150Hash: "0x0", terminalTotalDifficultyPassed: true };
  genesisFromJson({ ...minimal, config: { ...other, bogotaTime: null, verkleTime: null } });
});

test("parseGenesis rejects text that is not JSON", () => {
  assert.throws(() => parseGenesis("{"), { code: "INVALID_GENESIS" });
});

test("blobParamsAt takes the newest active entry, with defaults for those left out", () => {
  const { config } = genesisFromJson({
    ...minimal,
    config: {
      chainId: 1,
      ...allBlocks(0),
      shanghaiTime: 10,
      cancunTime: 20,
      pragueTime: 30,
      osakaTime: 40,
      bpo1Time: 50,
      blobSchedule: {
        prague: { target: 2, max: 4, baseFeeUpdateFraction: 99 },
        bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 100 },
      },
    },
  });
  const max = (timestamp: number) => blobParamsAt(config, timestamp)?.max;
  assert.deepEqual([19, 20, 30, 40, 50].map(max), [undefined, 6, 4, 4, 15]);
});

test("genesisFromJson refuses a gas limit that has no room for the access list of a block, where Amsterdam begins with block 0", () => {
  const times = { shanghaiTime: 0, cancunTime: 0, pragueTime: 0, osakaTime: 0, amsterdamTime: 10 };
  const config = { chainId: 1, ...allBlocks(0), ...times };
  const read = (gasLimit: number, timestamp: number) => genesisFromJson({ ...minimal, config, gasLimit, timestamp });
  assert.equal(read(50_000, 10).gasLimit, 50_000n);
  assert.equal(read(49_999, 9).gasLimit, 49_999n);
  assert.throws(
    () => read(49_999, 10),
    (error: InvalidGenesisError) => error.details["field"] === "gasLimit",
  );
});

test("genesisFromJson reads Amsterdam before the third blob parameter fork and after it, never before the second", () => {
  const early = { shanghaiTime: 0, cancunTime: 0, pragueTime: 0, osakaTime: 0, bpo1Time: 10, bpo2Time: 20 };
  const bpo = { target: 10, max: 15, baseFeeUpdateFraction: 100 };
  const blobSchedule = { bpo1: bpo, bpo2: { ...bpo, max: 16 }, bpo3: { ...bpo, max: 17 } };
  const read = (late: object) =>
    genesisFromJson({ ...minimal, config: { chainId: 1, ...allBlocks(0), ...early, ...late, blobSchedule } }).config;
  for (const late of [
    { amsterdamTime: 30, bpo3Time: 40 },
    { bpo3Time: 30, amsterdamTime: 40 },
  ]) {
    const config = read(late);
    const hardfork = (timestamp: number) => hardforkAt(config, { number: 1, timestamp, difficulty: 0n });
    assert.deepEqual([late.amsterdamTime - 1, late.amsterdamTime].map(hardfork), ["osaka", "amsterdam"]);
    assert.deepEqual(
      [29, late.bpo3Time - 1, late.bpo3Time].map((time) => blobParamsAt(config, time)?.max),
      [16, 16, 17],
    );
  }
  for (const [field, late] of [
    ["config.amsterdamTime", { amsterdamTime: 19 }],
    ["config.bpo3Time", { bpo3Time: 19 }],
    ["config.bpo3Time", { amsterdamTime: 30, bpo3Time: 19 }],
  ] as const) {
    assert.throws(
      () => read(late),
      (error: InvalidGenesisError) => error.details["field"] === field,
      field,
    );
  }
});

test("genesisFromJson reads the rules that nodes agree on, and no unknown ones", () => {
  const rulesOf = (config: object) => {
    const { zeroBaseFee, minimumTip } = genesisFromJson({ ...minimal, config: { chainId: 1, ...config } }).config;
    return { zeroBaseFee, minimumTip };
  };
  assert.deepEqual(rulesOf({ zeroBaseFee: false }), { zeroBaseFee: undefined, minimumTip: undefined });
  assert.deepEqual(rulesOf({ zeroBaseFee: true }), { zeroBaseFee: true, minimumTip: 0n });
  assert.deepEqual(rulesOf({ zeroBaseFee: true, evmint: { minimumTip: "0x7" } }), {
    zeroBaseFee: true,
    minimumTip: 7n,
  });
  assert.deepEqual(rulesOf({ evmint: { minimumTip: 0 } }), { zeroBaseFee: undefined, minimumTip: 0n });
  assert.throws(() => rulesOf({ evmint: { minimumTips: "0x7" } }), {
    details: { field: "config.evmint.minimumTips", reason: "unknown rule" },
  });
});

test("genesisFromJson takes a contract of account permissions that block 0 has, and that allows somebody", () => {
  const address = `0x${"ab".repeat(20)}`;
  const account = { balance: "0x0", code: "0x00", storage: { "0x01": "0x01" } };
  const read = (alloc: object, accountPermissions: unknown = address) =>
    genesisFromJson({ ...minimal, config: { chainId: 1, evmint: { accountPermissions } }, alloc }).config;
  assert.equal(read({ [address]: account }, address.toUpperCase().replace("0X", "0x")).accountPermissions, address);
  const { code: _, ...codeless } = account;
  const { storage: __, ...empty } = account;
  const field = "config.evmint.accountPermissions";
  for (const [missing, alloc] of [
    ["code", {}],
    ["code", { [address]: codeless }],
    ["storage", { [address]: empty }],
  ] as const) {
    assert.throws(() => read(alloc), { details: { field, reason: `alloc has no ${missing} at ${address}` } });
  }
  for (const value of ["0x00", 7, true, {}]) {
    assert.throws(() => read({ [address]: account }, value), { code: "INVALID_GENESIS" });
  }
});
