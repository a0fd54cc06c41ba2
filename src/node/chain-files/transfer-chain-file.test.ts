import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { encodeRlp, encodeRlpListOf } from "../../base/primitives/rlp.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { encodeBlock } from "../../base/types/block-codec.ts";
import { encodeHeader } from "../../base/types/header-codec.ts";
import { createNode } from "../../index.ts";
import { loadConfig } from "../config/load.ts";
import { openChain } from "../roles/chain/open-chain.ts";
import { nodeOperations } from "../roles/operations.ts";
import { setAsideBlocks } from "./transfer-chain-file.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-aside-"));
after(() => rmSync(folder, { recursive: true }));

test("blocks that are set aside are in a file once, and come back by an import", async () => {
  const home = join(folder, "home");
  const node = await createNode({ home });
  for (let number = 1; number <= 4; number++) await node.mine();
  await node.stop();
  const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
  const directory = join(folder, "aside");
  mkdirSync(directory);
  writeFileSync(join(directory, "unfinished.rlp.gz"), "of a process that was killed");

  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  const { hash } = chain.head().block;
  const range = { first: 3, last: 4 };
  const file = await setAsideBlocks(directory, chain, range);
  assert.deepEqual(readdirSync(directory), [`3-4-${hash.slice(2, 10)}.rlp.gz`]);
  const { ino } = statSync(file);
  assert.equal(await setAsideBlocks(directory, chain, range), file);
  assert.equal(statSync(file).ino, ino);
  chain.rollbackTo(2);
  store.close();

  const { signal } = new AbortController();
  const options = { file, signal, onProgress() {} };
  const imported = await nodeOperations.importChain(config, STRICT_LOGGER, options);
  assert.deepEqual(imported, { imported: 2, skipped: 0, head: 4 });
  const reopened = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  assert.equal(reopened.chain.head().block.hash, hash);
  reopened.store.close();
});

test("blocks that cannot be written are an error, and no file", async () => {
  const home = join(folder, "other");
  const node = await createNode({ home });
  await node.mine();
  await node.stop();
  const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  const directory = join(folder, "failed");
  const broken = {
    ...chain,
    block() {
      throw new Error("the log is damaged");
    },
  };
  await assert.rejects(setAsideBlocks(directory, broken, { first: 1, last: 1 }), Error);
  assert.deepEqual(readdirSync(directory), []);
  store.close();
});

test("a block whose transactions are malformed ends an import; the blocks before it are imported", async () => {
  const home = join(folder, "malformed");
  const node = await createNode({ home });
  for (let number = 1; number <= 8; number++) await node.mine();
  await node.stop();
  const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  const encoded = Array.from({ length: 8 }, (_, i) => encodeBlock(chain.block(i + 1)!.block));
  const { header } = chain.block(3)!.block;
  // Enough transactions for a thread of the recovery.
  const malformed = Array.from({ length: 8 }, () => Uint8Array.of(2, 0xc0));
  encoded[2] = encodeRlpListOf([encodeHeader(header), encodeRlp(malformed), encodeRlp([]), encodeRlp([])]);
  chain.rollbackTo(0);
  store.close();
  const file = join(folder, "malformed.rlp");
  writeFileSync(file, Buffer.concat(encoded));

  const { signal } = new AbortController();
  const options = { file, signal, onProgress() {} };
  for (let run = 0; run < 2; run++) {
    await assert.rejects(nodeOperations.importChain(config, STRICT_LOGGER, options), {
      code: "INVALID_CHAIN_FILE",
      details: { ordinal: 2 },
    });
    const reopened = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
    assert.equal(reopened.chain.head().block.header.number, 2);
    reopened.store.close();
  }
});
