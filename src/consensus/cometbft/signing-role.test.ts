import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { createEngineKeys } from "./home/home.ts";
import type { EngineRound, EngineStatus } from "./rpc/answers.ts";
import { createNextKey, KEY_FILES, readNextKey, readValidatorKey } from "./signing/key-files.ts";
import { raiseSigningState, readSigningState } from "./signing/signing-state.ts";
import { type RemoteSigner, SigningRole } from "./signing-role.ts";

const OTHER = parseAddress(`0x${"cd".repeat(20)}`);
const HEAD = 20;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "evmint-role-"));
  createEngineKeys(directory);
});
afterEach(() => rmSync(directory, { recursive: true }));

function createTestRole(options: { readonly guardBlocks?: number; readonly remoteSigner?: RemoteSigner } = {}) {
  const world = {
    signers: [] as Address[],
    now: 0,
    votes: [] as EngineRound["votes"],
    key: OTHER,
    replaced: [] as Address[][],
  };
  const role = new SigningRole(
    { directory, guardBlocks: options.guardBlocks ?? 3, blockTimeMs: 1_000, remoteSigner: options.remoteSigner },
    {
      signers: () => world.signers,
      onNewKey: (old, address) => world.replaced.push([old, address]),
      height: () => HEAD,
      wallClock: () => 0,
      now: () => world.now,
      log: STRICT_LOGGER,
    },
  );
  const observe = () => {
    const status = { isCatchingUp: false, validatorAddress: world.key.slice(2).toUpperCase() } as EngineStatus;
    const round = { votes: world.votes } as EngineRound;
    return role.observe({ status, round, peerCount: 1 });
  };
  /** Nothing happens in the network for long. */
  const release = () => {
    assert.equal(observe(), false);
    world.now += 60_000;
    return observe();
  };
  return { role, world, observe, release };
}

test("CometBFT follows until the key is a validator's and may sign; then it signs nothing at or below the head", () => {
  const { role, world, observe, release } = createTestRole();
  assert.deepEqual(role.prepare(), { kind: "none" });
  assert.equal(release(), false, "a follower stays one");
  assert.equal(role.reason, undefined);
  world.signers = [OTHER, role.address];
  assert.equal(observe(), true);
  assert.deepEqual(role.prepare(), { kind: "file" });
  assert.deepEqual(readSigningState(directory), { height: HEAD, round: 0, step: 3 });
  assert.equal(observe(), false);
  assert.deepEqual(role.prepare(), { kind: "file" }, "also after a restart of CometBFT");
});

test("the signing state is raised to votes that peers have, and never lowered", () => {
  for (const [own, seen, raised] of [
    [25, 21, 25],
    [2, 21, 21],
    [2, 3, HEAD],
  ] as const) {
    raiseSigningState(directory, { height: own, round: 0, step: 3 });
    const { role, world, release } = createTestRole();
    world.signers = [role.address, OTHER];
    world.votes = [{ voter: role.address.slice(2, 14), height: seen, round: 4, kind: "prevote", atMs: 0 }];
    role.prepare();
    assert.equal(release(), true);
    role.prepare();
    assert.equal(readSigningState(directory).height, raised);
    rmSync(join(directory, "data/priv_validator_state.json"));
    createEngineKeys(directory);
  }
});

test("a validator that waits says why, until it signs", () => {
  const { role, world, observe } = createTestRole();
  world.signers = [role.address, OTHER];
  assert.equal(observe(), false);
  assert.equal(role.isWaiting, true);
  assert.match(role.reason ?? "", /waits for 3 blocks/);
  world.now += 60_000;
  assert.notEqual(role.reason, undefined, "the key may sign, and CometBFT does not have it yet");
  assert.equal(observe(), true);
  assert.deepEqual([role.isWaiting, role.reason], [false, undefined]);
});

test("without the guard the key signs from the first start on, and its state is not touched", () => {
  const { role, world, observe } = createTestRole({ guardBlocks: 0 });
  world.signers = [role.address];
  assert.deepEqual(role.prepare(), { kind: "file" });
  assert.equal(observe(), false);
  assert.equal(readSigningState(directory).height, 0);
});

test("CometBFT that state sync has started follows, and is started again for a validator without the guard", () => {
  const { role, world, observe } = createTestRole({ guardBlocks: 0 });
  assert.equal(observe(), false, "a follower need not");
  world.signers = [role.address, OTHER];
  assert.equal(observe(), true);
});

test("the next key takes the place of the validator's once it is one, while the node runs or at its start", () => {
  for (const runs of [true, false]) {
    const first = createTestRole();
    const old = first.role.address;
    first.world.signers = [old, OTHER];
    first.role.prepare();
    assert.equal(first.release(), true);
    first.role.prepare();
    const next = createNextKey(directory).address;
    assert.equal(first.observe(), false, "not before it is voted in");

    const { role, world, observe, release } = runs ? first : createTestRole();
    world.signers = [old, OTHER, next];
    if (!runs) assert.deepEqual(role.prepare(), { kind: "none" });
    assert.equal(runs ? observe() : release(), true);
    assert.deepEqual(role.prepare(), { kind: "file" });
    assert.equal(role.address, next);
    assert.deepEqual(world.replaced, [[old, next]]);
    assert.equal(readValidatorKey(directory).address, next);
    assert.equal(readNextKey(directory), undefined);
    assert.equal(existsSync(join(directory, `config/priv_validator_key.${old.slice(2)}.json`)), true);
    assert.equal(observe(), false);
    rmSync(join(directory, KEY_FILES.validator));
    createEngineKeys(directory);
  }
});

test("a remote signer is waited for in the same way, and one with another key is a reason not to be ready", () => {
  const { publicKey, address } = readValidatorKey(directory);
  rmSync(join(directory, KEY_FILES.validator));
  const remoteSigner = { address: "unix:///s", publicKey };
  const { role, world, observe, release } = createTestRole({ remoteSigner });
  world.signers = [address, OTHER];
  assert.deepEqual(role.prepare(), { kind: "none" });
  assert.equal(release(), true);
  assert.deepEqual(role.prepare(), { kind: "remote", address: "unix:///s" });
  assert.equal(readSigningState(directory).height, 0, "the signer has a state of its own");
  assert.equal(observe(), false);
  assert.match(role.reason ?? "", /remote signer has the key of 0xcdcd/);
  world.key = address;
  observe();
  assert.equal(role.reason, undefined);
});
