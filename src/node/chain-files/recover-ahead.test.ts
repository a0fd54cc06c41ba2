import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { addressFromPrivateKey } from "../../base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../base/params/blob-schedule.ts";
import { parseGenesis } from "../../base/params/genesis.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { encodeBlock } from "../../base/types/block-codec.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import { buildTransaction } from "../../base/types/transaction/encode.ts";
import { signTransaction } from "../../base/types/transaction/sign.ts";
import type { Transaction } from "../../base/types/transaction/transaction.ts";
import { genesisHeader } from "../../chain/genesis-block.ts";
import type { EncodedBlock } from "./chain-file.ts";
import { createSenderRecovery, recoverAhead, type SenderRecovery } from "./recover-ahead.ts";

const CHAIN_ID = 1337n;
const genesis = parseGenesis(
  JSON.stringify(
    { config: allForksAtGenesis(CHAIN_ID), gasLimit: "0x1c9c380", difficulty: "0x0", alloc: {} },
    (_, value) => (typeof value === "bigint" ? Number(value) : value),
  ),
);
const keys = Array.from({ length: 40 }, (_, i) => bigintToFixedBytes(BigInt(i + 1), 32));
const senders = keys.map(addressFromPrivateKey);

function transfer(key: Uint8Array, nonce: number): Transaction {
  return signTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      gasLimit: 21_000n,
      to: senders[0]!,
      value: 1n,
      data: EMPTY_BYTES,
      accessList: [],
      maxFeePerGas: 10n,
      maxPriorityFeePerGas: 1n,
    },
    key,
  );
}

function blockOf(number: number, transactions: readonly Transaction[]): EncodedBlock {
  const header = { ...genesisHeader(genesis, EMPTY_TRIE_ROOT), number };
  const bytes = encodeBlock({ header, transactions, uncles: [], withdrawals: [] });
  return { hash: headerHash(header), header, bytes };
}

type Options = Parameters<typeof recoverAhead<EncodedBlock>>[2];

let recovery: SenderRecovery;
before(() => {
  recovery = createSenderRecovery(genesis.config, { threadCount: 2, log: STRICT_LOGGER, timers: fatalTimers });
});
after(() => recovery.close());

async function* itemsOf(blocks: readonly EncodedBlock[]) {
  yield* blocks;
}

async function collect(blocks: readonly EncodedBlock[], options: Options, using = recovery) {
  const found = [];
  for await (const item of recoverAhead(itemsOf(blocks), using, options)) found.push(item);
  return found;
}

test("recoverAhead gives every block its senders, in the order of the blocks", async () => {
  const blocks = Array.from({ length: 12 }, (_, number) =>
    blockOf(
      number,
      keys.slice(number).map((key) => transfer(key, number)),
    ),
  );
  for (const ahead of [0, 3, 100]) {
    const found = await collect(blocks, { ahead, isWanted: () => true });
    assert.deepEqual(
      found.map(({ header }) => header.number),
      blocks.map(({ header }) => header.number),
    );
    for (const [number, item] of found.entries()) {
      assert.deepEqual(item.senders, senders.slice(number));
    }
  }
});

test("recoverAhead gives every item before its source fails, and closes a source that is left", async () => {
  const block = blockOf(
    1,
    keys.map((key) => transfer(key, 1)),
  );
  let isClosed = false;
  async function* failing() {
    try {
      yield block;
      yield block;
      throw new RangeError("cut off");
    } finally {
      isClosed = true;
    }
  }
  const options = { ahead: 8, isWanted: () => true };
  let count = 0;
  await assert.rejects(async () => {
    for await (const item of recoverAhead(failing(), recovery, options)) {
      assert.deepEqual(item.senders, senders);
      count++;
    }
  }, RangeError);
  assert.equal(count, 2);
  isClosed = false;
  for await (const _ of recoverAhead(failing(), recovery, { ...options, ahead: 0 })) break;
  assert.ok(isClosed);
});

test("recoverAhead recovers nothing of a block that is not wanted", async () => {
  const blocks = [1, 2].map((number) =>
    blockOf(
      number,
      keys.map((key) => transfer(key, number)),
    ),
  );
  const isWanted = ({ header }: EncodedBlock) => header.number === 2;
  const found = await collect(blocks, { ahead: 1, isWanted });
  assert.deepEqual(
    found.map((item) => item.senders.length),
    [0, keys.length],
  );
});

test("senders end before the first transaction whose signature has none", async () => {
  const transactions = keys.map((key) => transfer(key, 1));
  const { v } = transactions[7]!;
  transactions[7] = buildTransaction(transactions[7]!, { v, r: 0n, s: 1n });
  assert.deepEqual(await recovery.recover(blockOf(1, transactions)), senders.slice(0, 7));
});

test("senders of a block in several parts end where the first of them is missing", async () => {
  const transactions = Array.from({ length: 1_100 }, (_, i) =>
    transfer(keys[i % keys.length]!, Math.floor(i / keys.length)),
  );
  const expected = transactions.map((_, i) => senders[i % keys.length]);
  assert.deepEqual(await recovery.recover(blockOf(1, transactions)), expected);
  const { v } = transactions[600]!;
  transactions[600] = buildTransaction(transactions[600]!, { v, r: 0n, s: 1n });
  assert.deepEqual(await recovery.recover(blockOf(1, transactions)), expected.slice(0, 600));
});

test("a recovery that is closed leaves the senders to the executor", async () => {
  const closing = createSenderRecovery(genesis.config, { threadCount: 1, log: STRICT_LOGGER, timers: fatalTimers });
  const waiting = closing.recover(
    blockOf(
      1,
      keys.map((key) => transfer(key, 1)),
    ),
  );
  await closing.close();
  assert.deepEqual(await waiting, []);
});
