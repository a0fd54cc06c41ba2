import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BASE_FEE, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { encodeBlock } from "../../../base/types/block-codec.ts";
import { EMPTY_UNCLES_HASH } from "../../../base/types/constants.ts";
import { inProcessContext } from "../../transport/dispatch/context.ts";
import { BlockJsonCache } from "../json/block-json-cache.ts";
import { getBlockByHash, getBlockByNumber, getHeaderByHash, getHeaderByNumber } from "./blocks.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
type Json = Record<string, any>;
const modules = createTestModules();
const [, first] = modules.blocks;

test("eth_getBlockByNumber has every member of its fork and no more", async () => {
  const block = (await getBlockByNumber.call(modules, ["0x1", false])) as Json;
  assert.deepEqual(Object.keys(block).sort(), [
    "baseFeePerGas",
    "blobGasUsed",
    "difficulty",
    "excessBlobGas",
    "extraData",
    "gasLimit",
    "gasUsed",
    "hash",
    "logsBloom",
    "miner",
    "mixHash",
    "nonce",
    "number",
    "parentBeaconBlockRoot",
    "parentHash",
    "receiptsRoot",
    "requestsHash",
    "sha3Uncles",
    "size",
    "stateRoot",
    "timestamp",
    "transactions",
    "transactionsRoot",
    "uncles",
    "withdrawals",
    "withdrawalsRoot",
  ]);
  assert.equal(block["nonce"], "0x0000000000000000");
  assert.equal(block["sha3Uncles"], EMPTY_UNCLES_HASH);
  assert.equal(block["size"], `0x${encodeBlock(first!.block).length.toString(16)}`);
  assert.deepEqual(
    block["transactions"],
    first!.block.transactions.map(({ hash }) => hash),
  );
});

test("eth_getBlockByNumber with whole transactions shows each type's own members", async () => {
  const block = (await getBlockByNumber.call(modules, ["0x1", true])) as Json;
  const [legacy, accessList, feeMarket, blob, setCode] = block["transactions"];
  assert.equal(legacy.chainId, "0x539");
  for (const absent of ["accessList", "yParity", "maxFeePerGas"]) assert.ok(!(absent in legacy));
  assert.deepEqual(accessList.accessList, [{ address: CONTRACT, storageKeys: [hashFromBigint(1n)] }]);
  assert.equal(accessList.yParity, accessList.v);
  assert.equal(feeMarket.gasPrice, `0x${(2n * BASE_FEE).toString(16)}`);
  assert.equal(feeMarket.to, null);
  assert.equal(blob.blobVersionedHashes.length, 1);
  assert.equal(blob.maxFeePerBlobGas, "0xa");
  assert.deepEqual(Object.keys(setCode.authorizationList[0]), ["chainId", "address", "nonce", "yParity", "r", "s"]);
  for (const [index, tx] of block["transactions"].entries()) {
    assert.equal(tx.type, `0x${index}`);
    assert.equal(tx.from, ALICE);
    assert.equal(tx.transactionIndex, `0x${index}`);
    assert.equal(tx.blockHash, block["hash"]);
    assert.equal(tx.blockTimestamp, block["timestamp"]);
  }
});

test("eth_getBlockByHash gives the same bytes each time, made once", async () => {
  const context = inProcessContext();
  const params = [first!.block.hash, true];
  assert.equal(await getBlockByHash.run(modules, params, context), await getBlockByHash.run(modules, params, context));
});

test("block methods give null for a block that is not there", async () => {
  assert.equal(await getBlockByNumber.call(modules, ["0x9", false]), null);
  assert.equal(await getBlockByNumber.call(modules, ["0x7fffffffffffffff", false]), null);
  assert.equal(await getBlockByHash.call(modules, [ZERO_HASH, false]), null);
  assert.equal(await getHeaderByNumber.call(modules, ["0x9"]), null);
  assert.equal(await getHeaderByHash.call(modules, [ZERO_HASH]), null);
});

test("eth_getHeaderByNumber has no pending header", async () => {
  assert.equal(await getHeaderByNumber.call(modules, ["pending"]), null);
});

test("the pending block has no hash, nonce or miner", async () => {
  const block = (await getBlockByNumber.call(modules, ["pending", true])) as Json;
  assert.deepEqual([block["hash"], block["nonce"], block["miner"]], [null, null, null]);
  assert.equal(block["number"], "0x3");
});

test("a header is the block without what is only in its body", async () => {
  const block = (await getBlockByNumber.call(modules, ["latest", false])) as Json;
  for (const body of ["size", "transactions", "uncles", "withdrawals"]) delete block[body];
  assert.deepEqual(await getHeaderByNumber.call(modules, ["latest"]), block);
  assert.deepEqual(await getHeaderByHash.call(modules, [block["hash"]]), block);
});

test("proof-of-work members are null when the service description's letter is asked for", async () => {
  const blockJson = new BlockJsonCache({ bytesMax: 1000, nullPowFields: true }, modules.sessions.slices.json);
  const sessions = { ...modules.sessions, blockJson };
  const block = (await getBlockByNumber.call({ ...modules, sessions }, ["0x1", false])) as Json;
  for (const member of ["nonce", "sha3Uncles", "difficulty", "totalDifficulty"]) {
    assert.equal(block[member], null);
  }
});

test("eth_getBlockByNumber wants a number as hex or a tag, and its flag", async () => {
  for (const block of [1, "1", "0x01", ZERO_HASH, null, "0x8000000000000000", {}]) {
    await assert.rejects(getBlockByNumber.call(modules, [block, false]), {
      details: { param: "block" },
    });
  }
  await assert.rejects(getBlockByNumber.call(modules, ["0x1"]), { details: { param: "isFull" } });
  await assert.rejects(getBlockByNumber.call(modules, ["0x1", "true"]), {
    details: { param: "isFull" },
  });
});
