import assert from "node:assert/strict";
import { test } from "node:test";
import { BOB, CODE, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { getProof, proofTextInSteps } from "./state.ts";

const modules = createTestModules();

test("eth_getProof echoes a 32-byte key as it is and any other as QUANTITY", async () => {
  const proof = await getProof.call(modules, [CONTRACT, [ZERO_HASH, "0x0", "0x01", "1"], "latest"]);
  assert.deepEqual(proof, {
    address: CONTRACT,
    accountProof: ["0x01"],
    balance: "0x0",
    codeHash: keccak256Hash(CODE),
    nonce: "0x1",
    storageHash: EMPTY_TRIE_ROOT,
    storageProof: [ZERO_HASH, "0x0", "0x1", "0x1"].map((key) => ({
      key,
      value: "0x9",
      proof: ["0x02"],
    })),
  });
});

test("eth_getProof of an account that is not there has zero hashes", async () => {
  const proof = (await getProof.call(modules, [BOB, []])) as Record<string, unknown>;
  assert.equal(proof["codeHash"], ZERO_HASH);
  assert.equal(proof["storageHash"], ZERO_HASH);
  assert.deepEqual(proof["storageProof"], []);
});

test("eth_getProof bounds its keys and has none for the pending block", async () => {
  await assert.rejects(getProof.call(modules, [BOB, Array(1025).fill("0x0")]), {
    code: "RPC_INVALID_PARAMS",
  });
  await assert.rejects(getProof.call(modules, [BOB, [], "pending"]), {
    code: "RPC_PENDING_PROOF",
  });
});

test("eth_getProof writes a thousand long proofs in steps of some hundred kilobytes", () => {
  const nodes = Array.from({ length: 8 }, () => new Uint8Array(532));
  const storageProofs = Array.from({ length: 1024 }, () => ({ value: 1n, proof: nodes }));
  const keys = storageProofs.map(() => ZERO_HASH);
  const proof = { accountProof: nodes, storageRoot: EMPTY_TRIE_ROOT, storageProofs } as never;
  const steps = proofTextInSteps(BOB, keys, { account: undefined, proof });
  let count = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  assert.equal(JSON.parse(step.value).storageProof.length, 1024);
  assert.ok(step.value.length / count < 256 << 10, `${step.value.length} in ${count} steps`);
});
