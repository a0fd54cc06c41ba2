import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import fc from "../../../test/support/fast-check.ts";
import { SharedSlices } from "./shared-slices.ts";

/** Runs tasks of so many steps of 1 ms each. Gives the task of each step, turn by turn. */
async function stepsByTurn(tasks: readonly number[]): Promise<number[][]> {
  const timers = new ManualTimers({ holdsTurns: true });
  const slices = new SharedSlices(timers);
  const turns: number[][] = [[]];
  async function run(task: number, steps: number) {
    await slices.enter();
    for (let step = 0; step < steps; step++) {
      if (slices.isOver()) await slices.next();
      timers.jump(1);
      turns.at(-1)!.push(task);
    }
  }
  const done = Promise.all(tasks.map((steps, task) => run(task, steps)));
  for (;;) {
    // Every microtask of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (timers.nextTurn.length === 0) break;
    turns.push([]);
    timers.turn();
  }
  await done;
  return turns;
}

test("all tasks together get one slice a turn, and each gets all its steps", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(60), { maxLength: 12 }), async (tasks) => {
      const turns = await stepsByTurn(tasks);
      for (const turn of turns) assert.ok(turn.length <= 5, `${turn.length} ms in one turn`);
      for (const [task, steps] of tasks.entries()) {
        assert.equal(turns.flat().filter((one) => one === task).length, steps);
      }
    }),
  );
});

test("a task that wants more than its slice waits for all others", async () => {
  const turns = await stepsByTurn([40, 3, 3]);
  const first = (task: number) => turns.findIndex((turn) => turn.includes(task));
  assert.ok(first(1) <= 2);
  assert.ok(first(2) <= 3);
  assert.equal(turns.at(-1)?.at(-1) ?? turns.at(-2)?.at(-1), 0);
});
