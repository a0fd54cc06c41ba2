import assert from "node:assert/strict";
import { test } from "node:test";
import { HARDFORKS, type Hardfork } from "../../base/params/hardforks.ts";
import { opcodesOf } from "./opcodes.ts";

function named(hardfork: Hardfork, name: string) {
  return opcodesOf(hardfork).find((opcode) => opcode?.name === name);
}

test("each opcode is at its number, and none is named twice", () => {
  const table = opcodesOf("amsterdam");
  const names = table.flatMap((opcode) => (opcode ? [opcode.name] : []));
  assert.equal(new Set(names).size, names.length);
  table.forEach((opcode, code) => {
    if (opcode) assert.equal(opcode.code, code);
  });
});

test("a fork keeps every opcode of the fork before it", () => {
  HARDFORKS.slice(1).forEach((fork, i) => {
    const before = opcodesOf(HARDFORKS[i]!);
    const now = opcodesOf(fork);
    before.forEach((opcode, code) => {
      if (opcode) assert.equal(now[code]?.name, opcode.name);
    });
  });
});

test("opcodes come with the fork of their EIP", () => {
  const FIRST: Readonly<Record<string, Hardfork>> = {
    DELEGATECALL: "homestead",
    REVERT: "byzantium",
    STATICCALL: "byzantium",
    SHL: "constantinople",
    CREATE2: "constantinople",
    CHAINID: "istanbul",
    BASEFEE: "london",
    PUSH0: "shanghai",
    TLOAD: "cancun",
    MCOPY: "cancun",
    BLOBHASH: "cancun",
    CLZ: "osaka",
    SLOTNUM: "amsterdam",
    DUPN: "amsterdam",
  };
  for (const [name, fork] of Object.entries(FIRST)) {
    assert.ok(named(fork, name), `${name} in ${fork}`);
    const before = HARDFORKS[HARDFORKS.indexOf(fork) - 1]!;
    assert.equal(named(before, name), undefined, `${name} in ${before}`);
  }
});

test("static gas follows the repricings", () => {
  const gasOf = (name: string) =>
    (["frontier", "tangerineWhistle", "istanbul", "berlin", "amsterdam"] as const).map(
      (fork) => named(fork, name)?.gas,
    );
  assert.deepEqual(gasOf("SLOAD"), [50, 200, 800, 0, 0]);
  assert.deepEqual(gasOf("BALANCE"), [20, 400, 700, 0, 0]);
  assert.deepEqual(gasOf("CALL"), [40, 700, 700, 0, 0]);
  assert.deepEqual(gasOf("SELFDESTRUCT"), [0, 5000, 5000, 5000, 5000]);
  assert.deepEqual(gasOf("EXTCODESIZE"), [20, 700, 700, 0, 100]);
  assert.deepEqual(gasOf("CREATE"), [32_000, 32_000, 32_000, 32_000, 12_000]);
});
