import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { createEngineKeys } from "../../consensus/cometbft/home/home.ts";
import { adoptNextKey, KEY_FILES, readNextKey, readValidatorKey } from "../../consensus/cometbft/signing/key-files.ts";
import { nextRotationStep, vote } from "./rotate-key.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "evmint-rotate-"));
  createEngineKeys(directory);
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a rotation goes from vote to switch to vote to done, and each step can be asked for again", () => {
  const old = readValidatorKey(directory).address;
  const first = nextRotationStep(directory, [old]);
  assert.equal(first.kind, "voteIn");
  const { address } = first.key;
  assert.notEqual(address, old);
  assert.deepEqual(nextRotationStep(directory, [old]), first, "no second key");
  assert.equal(readValidatorKey(directory).address, old);

  assert.equal(nextRotationStep(directory, [old, address]).kind, "switch");
  adoptNextKey(directory);
  assert.equal(readValidatorKey(directory).address, address);
  for (let call = 0; call < 2; call++) {
    const step = nextRotationStep(directory, [old, address]);
    assert.deepEqual([step.kind, "address" in step && step.address], ["voteOut", old]);
  }

  for (let call = 0; call < 2; call++) {
    const step = nextRotationStep(directory, [address]);
    assert.equal(step.kind, "done", "no rotation begins anew");
    assert.equal(step.key.address, address);
  }
  const done = nextRotationStep(directory, [address]);
  for (const file of done.kind === "done" ? done.oldFiles : []) rmSync(file);
  assert.equal(nextRotationStep(directory, [address]).kind, "voteIn", "the next rotation");
});

test("adoptNextKey that was interrupted after the new key was in place is finished by the next call", () => {
  const old = readValidatorKey(directory).address;
  const { key } = nextRotationStep(directory, [old]);
  const next = join(directory, KEY_FILES.next);
  const copy = join(directory, "copy.json");
  cpSync(next, copy);
  adoptNextKey(directory);
  cpSync(copy, next);
  const step = nextRotationStep(directory, [old, key.address]);
  assert.deepEqual([step.kind, "address" in step && step.address], ["voteOut", old]);
  adoptNextKey(directory);
  assert.equal(existsSync(next), false);
  assert.equal(readNextKey(directory), undefined);
  assert.equal(readValidatorKey(directory).address, key.address);
  assert.deepEqual(nextRotationStep(directory, [old, key.address]), step);
});

test("no vote is left after a rotation, however short the change to the new key was", async () => {
  const old = readValidatorKey(directory).address;
  const other = "0x00000000000000000000000000000000000000ff";
  const proposals = new Map<unknown, unknown>([[other, true]]);
  const node = {
    async request(method: string, params: readonly unknown[]) {
      if (method === "clique_propose") proposals.set(params[0], params[1]);
      if (method === "clique_discard") proposals.delete(params[0]);
      return method === "clique_proposals" ? Object.fromEntries(proposals) : null;
    },
  };
  const first = nextRotationStep(directory, [old]);
  const { address } = first.key;
  await vote(node, first);
  assert.equal(proposals.get(address), true);
  adoptNextKey(directory);
  // The step `switch` was never seen.
  await vote(node, nextRotationStep(directory, [old, address]));
  assert.deepEqual(
    [...proposals],
    [
      [other, true],
      [old, false],
    ],
  );
  await vote(node, nextRotationStep(directory, [address]));
  assert.deepEqual([...proposals], [[other, true]]);
});
