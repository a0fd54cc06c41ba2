import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Machine } from "./machine.ts";
import { ProcessEndedError } from "./process.ts";
import { Simulation } from "./simulation.ts";

/** Simulations run outside of microtasks. */
async function outside(work: () => void): Promise<void> {
  await setImmediate();
  await new Promise<void>((resolve, reject) => {
    globalThis.setImmediate(() => {
      try {
        work();
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
}

test("events happen by time, those of one moment in the order in which they were added, promises with their event", () =>
  outside(() => {
    const simulation = new Simulation("order");
    const seen: string[] = [];
    const note = (what: string) => () => void seen.push(`${simulation.now} ${what}`);
    simulation.after(5, undefined, () => {
      note("third")();
      void Promise.resolve().then(note("its promise"));
      simulation.after(0, undefined, note("what it added"));
    });
    simulation.after(5, undefined, note("fourth"));
    simulation.after(1, undefined, note("first"));
    simulation.after(1, undefined, note("second"));
    simulation.runUntil(10);
    assert.deepEqual(seen, ["1 first", "1 second", "5 third", "5 its promise", "5 fourth", "5 what it added"]);
    assert.equal(simulation.now, 10);
  }));

test("of a process that was killed nothing runs any more", () =>
  outside(() => {
    const simulation = new Simulation("kill");
    const machine = new Machine(simulation, "machine", "10.0.0.1");
    let steps = 0;
    const process = machine.start("program", (self) => {
      const step = () => {
        steps++;
        self.after(10, step);
      };
      step();
    });
    simulation.after(35, undefined, () => process.kill());
    simulation.runUntil(1_000);
    assert.equal(steps, 4);
    assert.throws(() => process.after(1, () => {}), ProcessEndedError);
    assert.equal(simulation.violation, undefined);
  }));

test("a process that computes, or is paused, does the rest later", () =>
  outside(() => {
    const simulation = new Simulation("busy");
    const machine = new Machine(simulation, "machine", "10.0.0.1");
    const times: number[] = [];
    const process = machine.start("program", (self) => {
      self.charge(20);
      self.after(5, () => times.push(simulation.now));
    });
    simulation.after(50, undefined, () => process.pause(100));
    simulation.after(60, process, () => times.push(simulation.now));
    simulation.runUntil(1_000);
    assert.deepEqual(times, [20, 150]);
  }));

test("an event that waits for its process can be cancelled", () =>
  outside(() => {
    const simulation = new Simulation("cancel");
    const machine = new Machine(simulation, "machine", "10.0.0.1");
    let runs = 0;
    machine.start("program", (self) => {
      self.charge(20);
      const late = self.after(5, () => runs++);
      self.after(1, () => {
        late.isCancelled = true;
      });
    });
    simulation.runUntil(1_000);
    assert.equal(runs, 0);
  }));
