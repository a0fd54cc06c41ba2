import assert from "node:assert/strict";
import type { ModelNode } from "./model-network.ts";

/** No two nodes executed different blocks of one height, and each one executed all up to its own. */
export function assertAgreement(nodes: readonly ModelNode[], initialHeight = 1): void {
  const hashes = new Map<number, string>();
  for (const { application, id } of nodes) {
    for (let height = initialHeight; height <= application.disk.height; height++) {
      const request = application.finalized.get(height);
      assert.ok(request, `block ${height} of ${id}`);
      const digits = Buffer.from(request.hash).toString("hex");
      assert.equal(digits, hashes.get(height) ?? digits, `block ${height} of ${id}`);
      hashes.set(height, digits);
    }
  }
}

export function assertNoFailure(nodes: readonly ModelNode[]): void {
  for (const { stdout } of nodes) {
    assert.deepEqual(
      stdout.filter((line) => line.includes('"_msg":"CONSENSUS FAILURE!!!"')),
      [],
    );
  }
}
