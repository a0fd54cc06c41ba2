import assert from "node:assert/strict";
import { test } from "node:test";
import { type Followed, followedPort, methodsOf } from "./declarations.ts";
import type { RemotePorts } from "./remote-ports.ts";

class DamageError extends Error {}

/** A port whose methods all do the same. */
function portOf(method: (name: string, input: unknown) => unknown) {
  const methods = methodsOf("execution").map(([name]) => [name, (input: unknown) => method(name, input)] as const);
  return Object.fromEntries(methods) as unknown as RemotePorts["execution"] & Followed<"execution">;
}

const store = {
  read: <T>(run: () => T) => run(),
  isDamage: (error: unknown) => error instanceof DamageError,
};

test("what follows the store answers what it can, and the chain the rest and all about the pending block", async () => {
  const here = portOf((name) => `${name} here`);
  const port = followedPort(
    "execution",
    here,
    portOf((name) => `${name} there`),
    store,
  );
  assert.equal(await port.call({ args: {}, at: 1, overrides: {} }), "call here");
  assert.equal(await port.call({ args: {}, at: "pending", overrides: {} }), "call there");
  assert.equal(await port.commitBlock({} as never), "commitBlock there");
});

test("a read that meets damage is the chain's to answer and to note, and any other failure the caller's", async () => {
  const failures: readonly (readonly [fail: () => unknown, isDamage: boolean])[] = [
    [() => assert.fail(new DamageError("rot")), true],
    [() => Promise.reject(new DamageError("rot")), true],
    [() => assert.fail(new Error("other")), false],
    [() => Promise.reject(new Error("other")), false],
  ];
  for (const [fail, isDamage] of failures) {
    const asked: unknown[] = [];
    const there = portOf((name, input) => asked.push([name, input]));
    const port = followedPort("execution", portOf(fail), there, store);
    const input = { args: {}, at: 1, overrides: {} } as const;
    const answer = async () => port.call(input);
    if (isDamage) assert.equal(await answer(), 1);
    else await assert.rejects(answer, { message: "other" });
    assert.deepEqual(asked, isDamage ? [["call", input]] : []);
  }
});
