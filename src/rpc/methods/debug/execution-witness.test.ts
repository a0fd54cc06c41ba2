import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import { executionWitness, executionWitnessByHash, preimage } from "./state-changes.ts";
import { witnessText } from "./witness-json.ts";

const modules = createTestModules();
const { header, hash } = modules.blocks[1]!.block;

test("debug_executionWitness writes headers, codes and nodes as geth does", async () => {
  const { requestsHash: _, ...older } = header;
  const witness = { headers: [older], codes: [Uint8Array.of(1, 2)], nodes: [Uint8Array.of(3)] };
  const withWitness = createTestModules({ execution: { executionWitness: () => witnessText(witness) } });
  for (const shown of [
    await executionWitness.call(withWitness, ["latest"]),
    await executionWitness.call(withWitness, ["pending"]),
    await executionWitness.call(withWitness, [hash]),
    await executionWitness.call(withWitness, [{ blockHash: hash }]),
    await executionWitnessByHash.call(withWitness, [hash]),
  ]) {
    const { headers, ...rest } = shown as { headers: { hash: string; requestsHash?: null }[] };
    assert.deepEqual(rest, { codes: ["0x0102"], state: ["0x03"], keys: null });
    assert.deepEqual(
      headers.map((each) => [each.hash, each.requestsHash]),
      [[headerHash(older), null]],
    );
  }
});

test("the headers of a witness begin with the oldest", () => {
  const parent = { ...header, number: header.number - 1 };
  const text = witnessText({ headers: [header, parent], codes: [], nodes: [] });
  const { headers } = JSON.parse(text) as { headers: { number: string }[] };
  assert.deepEqual(
    headers.map(({ number }) => Number(number)),
    [parent.number, header.number],
  );
});

test("debug_executionWitness rejects genesis, unknown blocks and what is no block", async () => {
  const rejected = { code: "DEBUG_REJECTED" };
  await assert.rejects(executionWitness.call(modules, ["0x0"]), rejected);
  await assert.rejects(executionWitness.call(modules, ["0x63"]), rejected);
  await assert.rejects(executionWitnessByHash.call(modules, [`0x${"11".repeat(32)}`]), rejected);
  for (const wrong of [null, -1, 99, "nine", {}]) {
    await assert.rejects(executionWitness.call(modules, [wrong]), { code: "RPC_INVALID_PARAMS" });
  }
  await assert.rejects(executionWitnessByHash.call(modules, ["0x1"]), {
    code: "RPC_INVALID_PARAMS",
  });
});

test("debug_preimage gives the bytes, and geth's error where there are none", async () => {
  const found = createTestModules({ inspection: { preimage: () => Uint8Array.of(7) } });
  assert.equal(await preimage.call(found, [hash]), "0x07");
  await assert.rejects(preimage.call(modules, [hash]), {
    code: "DEBUG_REJECTED",
    message: "unknown preimage",
  });
  await assert.rejects(preimage.call(modules, ["0x07"]), { code: "RPC_INVALID_PARAMS" });
});
