import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import type { Step } from "../../src/evm/machine/tracer.ts";
import { createEngine } from "../conformance/engines.ts";
import { assemble, type FuzzCase } from "./case.ts";
import { compareEngines, differenceAt } from "./compare.ts";
import { generateCase } from "./generate.ts";
import { shrink } from "./shrink.ts";

/** Another seed than the one a longer run begins with. */
const SEED = 500;
const PROGRAMS = 24;

const engine = await createEngine("evmint");
const oracle = await createEngine("ethereumjs-own-precompiles");

test(`engine and oracle agree on ${PROGRAMS} random programs`, () => {
  for (let seed = SEED; seed < SEED + PROGRAMS; seed++) {
    const { finding } = compareEngines(generateCase(seed), engine, oracle, {
      withSteps: seed % 8 === 0,
    });
    assert.equal(finding?.difference, undefined, `seed ${seed}`);
  }
});

test("engine and oracle agree on every program that once set them apart", () => {
  const found = JSON.parse(readFileSync(new URL("./found.json", import.meta.url), "utf8"));
  for (const fuzzCase of found as FuzzCase[]) {
    const finding = differenceAt(fuzzCase, engine, oracle, { withSteps: true });
    assert.equal(finding?.difference, undefined, JSON.stringify(fuzzCase));
  }
});

test("an engine with a fault is found out, by a program of a few instructions", () => {
  // Runs London under the rules of Berlin: no BASEFEE, old refunds, 0xef allowed.
  const faulty: Evm = {
    execute: (message, block, state, options) =>
      engine.execute(message, { ...block, hardfork: "berlin" }, state, options),
  };
  const fails = (fuzzCase: FuzzCase) => differenceAt(fuzzCase, engine, faulty) !== undefined;
  let seed = 1;
  let { finding } = compareEngines(generateCase(seed, "london"), engine, faulty);
  while (!finding && seed < 200) {
    finding = compareEngines(generateCase(++seed, "london"), engine, faulty).finding;
  }
  assert.ok(finding);
  const { accounts, initCode } = shrink(finding.fuzzCase, fails);
  const length = accounts.reduce((sum, { code }) => sum + code.length, initCode.length);
  assert.ok(length <= 8, `${length} pieces of code`);
});

test("an engine that reports a wrong step is detected, also when it is the last of its frame", () => {
  const RETURN = 0xf3;
  const faulty: Evm = {
    execute(message, block, state, { tracer } = {}) {
      const onStep = (step: Step) =>
        tracer?.onStep?.(step.opcode === RETURN ? Object.assign(step, { memory: () => new Uint8Array(3) }) : step);
      return engine.execute(message, block, state, { tracer: { ...tracer, onStep } });
    },
  };
  const contract = `0x${"cc".repeat(20)}` as Address;
  // PUSH1 32, PUSH1 0, RETURN
  const fuzzCase: FuzzCase = {
    hardfork: "prague",
    accounts: [{ address: contract, balance: "0", nonce: "1", code: ["6020", "6000", "f3"], storage: {} }],
    to: contract,
    initCode: [],
    value: "0",
    data: "0x",
    gas: "100000",
    accessList: [],
  };
  assert.equal(differenceAt(fuzzCase, engine, faulty), undefined);
  const finding = differenceAt(fuzzCase, engine, faulty, { withSteps: true });
  assert.match(finding?.difference ?? "", /^step 3:/);
});

test("assemble resolves labels to where their JUMPDEST is", () => {
  assert.deepEqual([...assemble(["@a", "56", "fe", "#a", "@b"])], [0x61, 0, 5, 0x56, 0xfe, 0x5b, 0x61, 0, 0]);
});
