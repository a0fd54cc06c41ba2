import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { createEngineRpc, type EngineRpc } from "../../src/consensus/cometbft/rpc/client.ts";
import type { LightBlock } from "../../src/consensus/engine.ts";
import { checkHeader } from "../../src/web/explorer/verify/header.ts";
import { checkSignatures, cometHeaderHash, type TrustedValidators } from "../../src/web/explorer/verify/signatures.ts";
import { type AnsweringSocket, RECORDED, startRecordedCometBft } from "./recorded-chain.ts";

let cometBft: AnsweringSocket;
let rpc: EngineRpc;
const lightBlocks = new Map<number, LightBlock>();
before(async () => {
  cometBft = await startRecordedCometBft(3);
  rpc = createEngineRpc(cometBft.path, fatalTimers);
  for (const height of [1, 5, 10]) lightBlocks.set(height, (await rpc.lightBlock(height))!);
});
after(() => cometBft.close());

const blockAt = (number: number) => {
  const block = RECORDED.blocks[number]!;
  assert.equal(checkHeader(block).kind, "verified");
  return { number, hash: block["hash"] as Hash };
};
const check = (height: number, trusted?: TrustedValidators, changed?: unknown) =>
  checkSignatures(changed ?? lightBlocks.get(height), blockAt(height - 1), trusted);

test("a height that is not decided has no signatures, and one that CometBFT lacks is an error", async () => {
  const { latestHeight } = await rpc.status();
  assert.equal(await rpc.lightBlock(latestHeight + 1), undefined);
  await assert.rejects(rpc.lightBlock(2), { code: "ENGINE_RPC" });
});

test("what CometBFT v0.40 and its validators signed is verified, from the first height on", () => {
  for (const [height, signers, percent] of [
    [1, 4, 100],
    [5, 4, 100],
    [10, 3, 75],
  ] as const) {
    const { verdict, accepted, ...counts } = check(height);
    assert.deepEqual(verdict, { kind: "verified" });
    assert.deepEqual(counts, { signers, percent, validators: 4 });
    assert.equal(accepted?.height, height);
    assert.equal(accepted.chainId, "evmint-9000");
  }
});

/** Every copy of `value` in which one string has another last digit, by the path of that string. */
function* damaged(value: unknown, path = ""): Generator<readonly [path: string, copy: unknown]> {
  if (typeof value === "string") {
    yield [path, value.slice(0, -1) + (value.endsWith("1") ? "2" : "1")];
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const [at, copy] of damaged(member, `${path}.${name}`)) {
        yield [at, Array.isArray(value) ? value.with(Number(name), copy) : { ...value, [name]: copy }];
      }
    }
  }
}

for (const height of [1, 5, 10]) {
  test(`one digit changed anywhere in the signed header of height ${height} makes it false`, () => {
    let count = 0;
    for (const [path, copy] of damaged(lightBlocks.get(height))) {
      assert.equal(check(height, undefined, copy).verdict.kind, "false", path);
      count++;
    }
    assert.ok(count > 40);
  });
}

test("the signed header of one block is none of another", () => {
  assert.equal(checkSignatures(lightBlocks.get(5), blockAt(9), undefined).verdict.kind, "false");
});

test("answers of another form are false", () => {
  const { header, commit } = lightBlocks.get(5)!;
  const empty = { ...header, validatorsHash: `0x${createHash("sha256").digest("hex")}` };
  const blockId = { ...commit.blockId, hash: cometHeaderHash(empty) };
  const nobody = { header: empty, commit: { ...commit, blockId, signatures: [] }, validators: [] };
  for (const answer of [undefined, 1, [], {}, { header, commit: [], validators: {} }, nobody]) {
    assert.equal(checkSignatures(answer, blockAt(4), undefined).verdict.kind, "false");
  }
});

test("two of four signatures are too few, and a power that wraps around is false", () => {
  const { header, commit, validators } = lightBlocks.get(10)!;
  const signatures = commit.signatures.with(0, null);
  const few = check(10, undefined, { header, validators, commit: { ...commit, signatures } });
  assert.equal(few.verdict.kind, "unverified");
  assert.equal(few.percent, 50);
  assert.equal(few.accepted, undefined);
  // CometBFT's encoding has 64 bits: the hash of the set is the same.
  const power = toQuantity(BigInt(validators[2]!.power) + 2n ** 64n);
  const wrapped = validators.with(2, { ...validators[2]!, power });
  assert.equal(check(10, undefined, { header, commit, validators: wrapped }).verdict.kind, "false");
});

test("a set is trusted by its hash, as the next of a trusted header, or by more than a third of the trusted power", () => {
  const set = check(5).accepted!;
  const [first, second, third] = Object.keys(set.powers) as Address[];
  const strange = { ...set, hash: set.nextHash.replace(/.$/, "0") as Hash };
  const kindWith = (trusted: TrustedValidators) => check(10, trusted).verdict.kind;
  assert.equal(kindWith({ ...strange, hash: set.hash, powers: {} }), "verified");
  assert.equal(kindWith({ ...strange, powers: {}, height: 9 }), "verified");
  assert.equal(kindWith({ ...strange, powers: {}, height: 8 }), "unverified");
  const absent = "0x00000000000000000000000000000000000000ff" as Address;
  // The second validator voted nil at height 10.
  assert.equal(kindWith({ ...strange, powers: { [first!]: "1", [absent]: "1" } }), "verified");
  assert.equal(kindWith({ ...strange, powers: { [first!]: "1", [absent]: "2" } }), "unverified");
  assert.equal(kindWith({ ...strange, powers: { [second!]: "2", [third!]: "1" } }), "unverified");
  assert.equal(check(10, { ...set, chainId: "evmint-9001" }).verdict.kind, "false");
});
