import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { decodeBlockAccessList, encodeBlockAccessList } from "../../base/types/block-access-list.ts";
import { encodeBlock } from "../../base/types/block-codec.ts";
import type { ListedLane, SentListedBlock } from "../../evm/execution/parallel/speculation.ts";
import { createNode } from "../../index.ts";
import { FollowingSpeculation } from "../calls/following-speculation.ts";
import { createImportThreads } from "../calls/speculation-threads.ts";
import { loadConfig } from "../config/load.ts";
import { executionModules } from "../roles/chain/execution-modules.ts";
import { type OpenChain, openChain } from "../roles/chain/open-chain.ts";
import { importFileBlock } from "./chain-file.ts";
import { AHEAD_LIMITS, ListedExecutions } from "./execute-ahead.ts";
import { importChainFile } from "./transfer-chain-file.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-ahead-"));
after(() => rmSync(folder, { recursive: true }));
const home = join(folder, "home");
const config = () => loadConfig({ home, dev: true, flags: {}, environment: {} }).config;

/** Raises slot 0, and stores what it is then in the slot that the input names and in the next one. */
const COUNTER = "600054600101806000558060003555600035600101" + "5500";
const CREATION = `0x601780600b6000396000f3${COUNTER}` as const;
const BLOCKS = 4;
const CALLS = 6;

type FilePart = { readonly list: Uint8Array; readonly block: Uint8Array };
let parts: readonly FilePart[];
let headHash: string;

const { gasBefore } = AHEAD_LIMITS;
after(() => {
  AHEAD_LIMITS.gasBefore = gasBefore;
});

before(async () => {
  AHEAD_LIMITS.gasBefore = 0n;
  const node = await createNode({ home, hardfork: "amsterdam" });
  const { rpc, accounts } = node;
  const hash = await rpc.eth_sendTransaction({ from: accounts[0]!.address, data: CREATION });
  const { contractAddress } = (await rpc.eth_getTransactionReceipt(hash))!;
  await rpc.evm_setAutomine(false);
  for (let i = 0; i < BLOCKS * CALLS; i++) {
    const data = hashFromBigint(BigInt(10 + 2 * i));
    await rpc.eth_sendTransaction({ from: accounts[i % 5]!.address, to: contractAddress!, data, gas: "0x100000" });
    if (i % CALLS === CALLS - 1) await rpc.evm_mine();
  }
  await node.stop();
  const { chain, store } = open();
  const head = chain.head().block;
  headHash = head.hash;
  assert.equal(head.header.number, BLOCKS + 1);
  parts = Array.from({ length: head.header.number }, (_, i) => ({
    list: chain.accessList(i + 1)!,
    block: encodeBlock(chain.block(i + 1)!.block),
  }));
  store.close();
});

const open = () => openChain(config(), { log: STRICT_LOGGER, timers: fatalTimers });

/** Imports `changed` into the chain without its blocks, with `lanes` of the opened chain. */
async function imported(changed: readonly FilePart[], lanes: (opened: OpenChain) => readonly ListedLane[]) {
  const opened = open();
  const { chain, store } = opened;
  try {
    chain.rollbackTo(0);
    const file = join(folder, "chain.rlp");
    writeFileSync(file, Buffer.concat(changed.flatMap(({ list, block }) => [list, block])));
    const ahead = new ListedExecutions(lanes(opened));
    const execution = { ...executionModules(chain), recorded: ahead };
    let failure: Error | undefined;
    await importChainFile(
      file,
      { chain, log: STRICT_LOGGER, timers: fatalTimers, ahead },
      {
        mayContinue: () => true,
        importBlock: (fileBlock, senders) => importFileBlock(chain, { ...fileBlock, senders }, execution),
      },
    ).catch((error: Error) => {
      failure = error;
    });
    return { head: chain.head().block, counts: ahead.counts, failure };
  } finally {
    store.close();
  }
}

/** `count` lanes in this thread, and what each was sent. */
function lanesHere(count: number, sent: SentListedBlock[] = []) {
  return ({ chain, store }: OpenChain): readonly ListedLane[] =>
    Array.from({ length: count }, () => {
      const data = { store: store.followable!, cacheBytes: 1 << 24, config: chain.genesisConfig, compiles: false };
      const following = new FollowingSpeculation(data, undefined as never);
      return async (block: SentListedBlock) => {
        sent.push(block);
        return following.executeListed(block)?.value;
      };
    });
}

const unlisted = (part: FilePart): FilePart => ({ ...part, list: new Uint8Array() });

test("ListedExecutions has transactions of blocks that are not imported yet executed, and none of them conflicts", async () => {
  for (const count of [2, 3]) {
    const sent: SentListedBlock[] = [];
    const { head, counts, failure } = await imported(parts, lanesHere(count, sent));
    assert.ifError(failure);
    assert.equal(head.hash, headHash);
    const transactions = sent.reduce((sum, { senders }) => sum + senders.length, 0);
    assert.ok(transactions > (BLOCKS * CALLS) / 4, `${transactions} sent`);
    assert.deepEqual(counts, { applied: transactions, conflicts: 0 });
    // The creation is a block of its own, which no lane gets.
    assert.equal(sent.length, BLOCKS * count);
  }
});

test("ListedExecutions in threads gives the same chain", async () => {
  let threads: ReturnType<typeof createImportThreads>;
  const { head, counts, failure } = await imported(parts, (opened) => {
    const onDisk = { ...config(), dev: false };
    threads = createImportThreads(onDisk, STRICT_LOGGER, opened, fatalTimers, 2);
    return threads!.listedLanes;
  });
  await threads?.close();
  assert.ifError(failure);
  assert.equal(head.hash, headHash);
  assert.ok(counts.applied > 0);
  assert.equal(counts.conflicts, 0);
});

test("ListedExecutions starts no thread for blocks that are executed sooner than it starts, nor one alone for cheap ones", async () => {
  const sent: SentListedBlock[] = [];
  AHEAD_LIMITS.gasBefore = gasBefore;
  await imported(parts, lanesHere(2, sent));
  AHEAD_LIMITS.gasBefore = 0n;
  const { head } = await imported(parts, lanesHere(1, sent));
  assert.equal(head.hash, headHash);
  assert.deepEqual(sent, []);
});

test("a lane that fails, or lacks the list of a block before, leaves its transactions to the chain's thread", async () => {
  const failing = await imported(parts, () => [async () => undefined]);
  assert.equal(failing.head.hash, headHash);
  assert.deepEqual(failing.counts, { applied: 0, conflicts: 0 });
  const withGap = parts.map((part, i) => (i === 2 ? unlisted(part) : part));
  const { head, counts, failure } = await imported(withGap, lanesHere(2));
  assert.ifError(failure);
  assert.equal(head.hash, headHash);
  assert.equal(counts.conflicts, 0);
});

test("a wrong list makes executions conflict, and stops the import at its block with the first difference", async () => {
  const wrong = parts.map((part, i) => {
    if (i !== 2) return part;
    const list = decodeBlockAccessList(part.list).map((account) => ({
      ...account,
      storageChanges: account.storageChanges.map(({ slot, changes }) => ({
        slot,
        changes: changes.map(({ index, value }) => ({
          index,
          // The counter as a block with one more call before it would have it.
          value: slot === hashFromBigint(0n) && value > CALLS && value <= 2 * CALLS ? value + 1n : value,
        })),
      })),
    }));
    return { ...part, list: encodeBlockAccessList(list) };
  });
  const { head, counts, failure } = await imported(wrong, lanesHere(2));
  assert.equal(head.header.number, 2);
  assert.ok(counts.conflicts > 0, `${counts.conflicts} conflicts`);
  assert.equal((failure as { code?: string } | undefined)?.code, "BLOCK_INVALID_BLOCK_ACCESS_LIST");
  assert.match(failure!.message, /account 0x[0-9a-f]{40}, storageChanges, slot 0x0{64}, index 1: 8, expected 7$/);
});
