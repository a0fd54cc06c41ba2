import assert from "node:assert/strict";
import { test } from "node:test";
import { programsOf, runProgram } from "../../../bench/worst-case/opcodes.ts";
import { opcodesOf } from "../../../src/evm/machine/opcodes.ts";

const FORK = "osaka";
/** Enough for two of the most expensive opcode, a creation. */
const GAS = 100_000n;

test("the worst-case benchmark executes every opcode again and again until the gas is used up", () => {
  for (const opcode of opcodesOf(FORK)) {
    if (opcode === undefined) continue;
    const programs = programsOf(opcode);
    assert.notEqual(programs.length, 0, opcode.name);
    for (const program of programs) {
      let executed = 0;
      const what: string = `${opcode.name} ${program.label}`;
      const { halt } = runProgram(program, FORK, GAS, {
        onStep(step) {
          if (step.opcode === opcode.code) executed++;
        },
      });
      assert.equal(halt?.kind, "outOfGas", what);
      assert.ok(executed >= 2, `${what}: ${executed}`);
    }
  }
});
