import assert from "node:assert/strict";
import { test } from "node:test";
import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { assertBlobFeeHasBlobs, messageFromCall, transactionFieldsOf } from "./call-arguments.ts";

const defaults = { chainId: 1n, baseFeePerGas: 7n, gasCap: 1_000n };

test("messageFromCall fills in what is left out", () => {
  const message = messageFromCall({}, defaults);
  assert.equal(message.from, ZERO_ADDRESS);
  assert.equal(message.to, null);
  assert.equal(message.gasLimit, 1_000n);
  assert.equal(message.gasPrice, 0n);
  assert.equal(message.blobVersionedHashes, undefined);
  assert.equal(messageFromCall({}, { ...defaults, gasCap: 0n }).gasLimit, 2n ** 63n - 1n);
});

test("messageFromCall derives the effective price", () => {
  const price = (args: Parameters<typeof messageFromCall>[0]) => messageFromCall(args, defaults).gasPrice;
  assert.equal(price({ gasPrice: 9n }), 9n);
  assert.equal(price({ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n }), 8n);
  assert.equal(price({ maxFeePerGas: 10n, maxPriorityFeePerGas: 5n }), 10n);
});

test("messageFromCall gives blobs without a cap the cap 0", () => {
  const blobVersionedHashes = [`0x01${"00".repeat(31)}` as Hash];
  assert.equal(messageFromCall({ to: ZERO_ADDRESS, blobVersionedHashes }, defaults).maxFeePerBlobGas, 0n);
});

test("messageFromCall refuses creations of types that cannot create, also with empty lists", () => {
  for (const to of [undefined, null]) {
    assert.throws(() => messageFromCall({ to, blobVersionedHashes: [] }, defaults), {
      message: "blob transaction of type create",
    });
    assert.throws(() => messageFromCall({ to, authorizationList: [] }, defaults), {
      message: "EIP-7702 transaction cannot be used to create contract",
    });
  }
});

test("assertBlobFeeHasBlobs wants blobs where there is a price for them", () => {
  const message = "maxFeePerBlobGas specified without blobVersionedHashes";
  for (const blobVersionedHashes of [undefined, []]) {
    assert.throws(() => assertBlobFeeHasBlobs({ maxFeePerBlobGas: 1n, blobVersionedHashes }), { message });
  }
  assertBlobFeeHasBlobs({ maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${"00".repeat(31)}` as Hash] });
  assertBlobFeeHasBlobs({});
});

test("transactionFieldsOf picks the type that the fields need", () => {
  const typeOf = (args: Parameters<typeof transactionFieldsOf>[0], least?: 0 | 2) =>
    transactionFieldsOf(args, 1n, least).type;
  assert.equal(typeOf({}), 0);
  assert.equal(typeOf({}, 2), 2);
  assert.equal(typeOf({ accessList: [] }), 1);
  assert.equal(typeOf({ accessList: [], maxFeePerGas: 1n }), 2);
  assert.equal(typeOf({ blobVersionedHashes: [] }), 3);
  assert.equal(typeOf({ blobVersionedHashes: [], authorizationList: [] }), 4);
  assert.equal(typeOf({ gasPrice: 1n }, 2), 0);
  assert.equal(typeOf({ gasPrice: 1n, accessList: [] }, 2), 1);
});
