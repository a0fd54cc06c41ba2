import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostileKind } from "./hostility.ts";
import { assertAgreement, assertNoFailure } from "./testing/agreement.ts";
import { ModelNetwork } from "./testing/model-network.ts";

const KINDS: readonly (readonly HostileKind[])[] = [
  ["votes", "amnesia"],
  ["proposals"],
  ["gossip", "handshake"],
  ["silence"],
];

for (const kinds of KINDS) {
  test(`one validator of four with hostile ${kinds.join(" and ")} neither stops nor splits the others`, async () => {
    const network = new ModelNetwork({ validators: 4, blockTimeMs: 500, seed: 7 });
    const [villain, ...honest] = network.nodes;
    villain!.hostile = new Set(kinds);
    network.start();
    await network.reach(9, 180_000, honest);
    assertAgreement(honest);
    assertNoFailure(honest);
    const requests = honest.flatMap(({ application }) => [...application.finalized.values()]);
    const proofs = requests.flatMap(({ misbehavior }) => misbehavior);
    assert.equal(proofs.length > 0, kinds.includes("votes"));
    for (const node of honest) for (const line of node.stdout) assert.doesNotThrow(() => JSON.parse(line));
    network.close();
  });
}
