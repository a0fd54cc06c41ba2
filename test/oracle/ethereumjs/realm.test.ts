import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createSynchronousRealm } from "./realm.ts";

const directory = mkdtempSync(join(tmpdir(), "evmint-realm-"));
after(() => rmSync(directory, { recursive: true }));

/** What the library below offers. */
type Library = {
  count(ask: () => number, times: number): Promise<number>;
  fail(error: Error): Promise<never>;
  forward(promise: Promise<number>): Promise<number>;
  bytes(): Uint8Array;
};

writeFileSync(join(directory, "helper.js"), "exports.one = async () => 1;");
writeFileSync(
  join(directory, "library.js"),
  `const { one } = require("./helper.js");
   exports.count = async (ask, times) => {
     let sum = 0;
     for (let i = 0; i < times; i++) sum += (await one()) * (await ask());
     return sum;
   };
   exports.fail = async (error) => { await null; throw error; };
   exports.forward = async (promise) => await promise;
   exports.bytes = () => new Uint8Array(3);`,
);

const realm = createSynchronousRealm(createRequire(import.meta.url));
const library = realm.load(join(directory, "library.js")) as Library;

test("run returns the result of an asynchronous function, however often it awaits", () => {
  assert.equal(
    realm.run(() => library.count(() => 2, 10_000)),
    20_000,
  );
});

test("run throws what an asynchronous function rejects with", () => {
  const error = new Error("rejected");
  assert.throws(() => realm.run(() => library.fail(error)), error);
});

test("run finds a bug in a task that waits for something outside", () => {
  const never = new Promise<number>(() => {});
  assert.throws(() => realm.run(() => library.forward(never)), { name: "InvariantError" });
  assert.equal(
    realm.run(() => library.count(() => 1, 1)),
    1,
  );
});

test("run can not be called from within a task", () => {
  const nested = () => realm.run(() => library.count(() => 1, 1));
  assert.throws(() => realm.run(() => library.count(nested, 1)), { name: "InvariantError" });
});

test("bytes of the realm are bytes of the host", () => {
  assert.ok(library.bytes() instanceof Uint8Array);
});
