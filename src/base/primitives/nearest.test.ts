import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

test("nearest finds the candidate with the fewest edits, and none that is further than a third of the name", () => {
  const names = ["eth_getLogs", "eth_getBalance", "net_version"];
  assert.equal(nearest("eth_getLog", names), "eth_getLogs");
  assert.equal(nearest("eth_getBalanc", names), "eth_getBalance");
  assert.equal(nearest("eth_getLgoss", names), "eth_getLogs");
  assert.equal(nearest("personal_sign", names), undefined);
});

test("nearest compares a name with candidates of about its length alone", () => {
  let reads = 0;
  const candidate = new Proxy(new String("net"), {
    get(target, key) {
      if (key !== "length") reads++;
      return Reflect.get(target, key);
    },
  }) as unknown as string;
  assert.equal(nearest("x".repeat(100_000), [candidate]), undefined);
  assert.equal(reads, 0);
});
