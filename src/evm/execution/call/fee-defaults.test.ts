import assert from "node:assert/strict";
import { test } from "node:test";
import { bob, config, GWEI, headerOf, withoutLaterFields } from "../../../../test/support/evm/execution/factories.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { CallArguments } from "./call-arguments.ts";
import { withFeeDefaults } from "./call-arguments.ts";

const head = headerOf();
const beforeLondon = withoutLaterFields(head);
const fill = (args: CallArguments, header = head) => withFeeDefaults(args, header, config, () => 3n);
const blobVersionedHashes = [`0x01${"00".repeat(31)}` as Hash];

test("withFeeDefaults offers the suggested tip and twice the base fee", () => {
  assert.deepEqual(fill({}), { maxPriorityFeePerGas: 3n, maxFeePerGas: 2n * GWEI + 3n });
  assert.deepEqual(fill({ maxPriorityFeePerGas: 5n }), {
    maxPriorityFeePerGas: 5n,
    maxFeePerGas: 2n * GWEI + 5n,
  });
  assert.deepEqual(fill({}, beforeLondon), { gasPrice: 3n });
  assert.deepEqual(fill({ gasPrice: 9n }), { gasPrice: 9n });
});

test("withFeeDefaults offers twice the blob base fee for blobs", () => {
  assert.equal(fill({ blobVersionedHashes }).maxFeePerBlobGas, 2n);
  assert.equal(fill({ blobVersionedHashes, maxFeePerBlobGas: 7n }).maxFeePerBlobGas, 7n);
  assert.equal(fill({}).maxFeePerBlobGas, undefined);
});

test("withFeeDefaults refuses prices that make no sense", () => {
  const authorization = { chainId: 1n, address: bob, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  const refused: readonly (readonly [CallArguments, string])[] = [
    [{ maxFeePerBlobGas: 0n }, "maxFeePerBlobGas, if specified, must be non-zero"],
    [{ gasPrice: 1n, maxFeePerGas: 1n }, "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"],
    [{ gasPrice: 1n, authorizationList: [authorization] }, "both gasPrice and authorizationList specified"],
    [{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }, "maxFeePerGas must be non-zero"],
    [{ maxFeePerGas: 16n, maxPriorityFeePerGas: 17n }, "maxFeePerGas (0x10) < maxPriorityFeePerGas (0x11)"],
    [{ maxFeePerGas: 2n }, "maxFeePerGas (0x2) < maxPriorityFeePerGas (0x3)"],
    [{ gasPrice: 0n }, "gasPrice must be non-zero after london fork"],
  ];
  for (const [args, message] of refused) {
    assert.throws(() => fill(args), { code: "CALL_INVALID_ARGUMENTS", message });
  }
  assert.throws(() => fill({ maxFeePerGas: 1n }, beforeLondon), {
    message: "maxFeePerGas and maxPriorityFeePerGas are not valid before London is active",
  });
});
