import assert from "node:assert/strict";
import { test } from "node:test";
import { type RandomBlock, RandomChain } from "../../../test/support/chain/random-chain.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import { createLossyKv } from "../../../test/support/store/storage/lossy-kv.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { KvMissingRowError, type KvReader, prefixRange } from "../../store/storage/kv.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { TABLE, tableKey } from "../../store/storage/schema.ts";
import { LogFilter } from "../logs/log-filter.ts";
import { deferNothing } from "./background-work.ts";
import { type LogBlockStore, openLogBlockStore } from "./log-block-store.ts";

const BLOCKS = 50;

/**
 * Tables whose rows are checked against another row or the log when one is missing. The rest cannot be at a bearable cost: a hash of a
 * block or a transaction that is not found may never have existed (ADR 15).
 */
const CHECKED = ["position", "account", "slot", "accountHistory", "slotHistory", "code", "blockLogs"] as const;

/** The history of a key that was deleted is in one row alone, so the loss of that one cannot be found. */
const LATEST_OF_HISTORY: Partial<Record<(typeof CHECKED)[number], number>> = {
  accountHistory: TABLE.account,
  slotHistory: TABLE.slot,
};

test("a row lost while the store is open is an error, never a wrong answer: each row of each checked table", () => {
  const log = createMemoryLogDirectory();
  const index = createLossyKv(createMemoryKv());
  const damage: Error[] = [];
  // Merged at once, so that nothing of a row is in memory.
  const mergeLimits = {
    versionsMin: 1,
    nodeBytesMin: 1,
    blocksMin: 1,
    keysMax: 10_000,
    logs: { blocksMin: 1, postingsMin: 1, logBytesMin: 1, rowsMax: 10_000 },
  };
  const open = () =>
    openLogBlockStore({
      defer: deferNothing,
      log,
      index,
      mergeLimits,
      createTrie: createStateTrie,
      onDamage: (error) => damage.push(error),
    });
  const store = open();
  const chain = new RandomChain(5);
  const blocks = Array.from({ length: BLOCKS }, () => chain.next());
  for (const { record, nodes } of blocks) store.append(record, nodes);
  const questions = questionsAbout(blocks);
  const answers = questions.map((ask) => ask(store));

  for (const table of CHECKED) {
    const all = Array.from(index.range(prefixRange(Uint8Array.of(TABLE[table]))), ([key]) => key);
    const latest = LATEST_OF_HISTORY[table];
    const rows = latest === undefined ? all : all.filter((key) => hasRow(index, latest, key));
    assert.ok(rows.length > 0, table);
    let found = 0;
    let reported = 0;
    for (const row of rows.filter((_, i) => i % Math.ceil(rows.length / 12) === 0)) {
      index.isLost = () => false;
      // Nothing read before is cached.
      const opened = open();
      index.isLost = (key) => Buffer.compare(key, row) === 0;
      damage.length = 0;
      for (const [i, ask] of questions.entries()) {
        let answer: unknown;
        try {
          answer = ask(opened);
        } catch (error) {
          assert.ok(error instanceof KvMissingRowError, `${table} ${bytesToHex(row)}: ${error}`);
          found++;
          continue;
        }
        assert.deepEqual(answer, answers[i], `${table} ${bytesToHex(row)}`);
      }
      reported += damage.length;
    }
    assert.ok(found > 0, table);
    assert.equal(reported, found, table);
  }
});

function hasRow(index: KvReader, table: number, key: Uint8Array): boolean {
  return index.get(tableKey(table, key.subarray(1))) !== undefined;
}

type Question = (store: LogBlockStore) => unknown;

/** Every header, account, slot and code after every tenth block, and all logs. */
function questionsAbout(blocks: readonly RandomBlock[]): readonly Question[] {
  const questions: Question[] = [];
  const accounts = blocks.flatMap(({ record }) => record.changes.accounts);
  const slots = new Map(
    accounts.flatMap(({ address, storage }) =>
      Array.from(storage.keys(), (slot) => [`${address} ${slot}`, { address, slot }] as const),
    ),
  );
  const state = createMemoryState();
  for (const [number, { record }] of blocks.entries()) {
    state.apply(record.changes);
    questions.push((store) => store.blockHash(number));
    questions.push((store) => store.header(number)?.stateRoot);
    if (number % 10 !== 9) continue;
    for (const address of new Set(accounts.map(({ address }) => address))) {
      questions.push((store) => store.stateAt(number).account(address));
      const codeHash = state.account(address)?.codeHash;
      if (codeHash) questions.push((store) => bytesToHex(store.stateAt(number).code(codeHash)));
    }
    for (const { address, slot } of slots.values()) {
      questions.push((store) => store.stateAt(number).storage(address, slot));
    }
  }
  for (const number of blocks.keys()) {
    questions.push(({ logs }) => {
      const [candidate] = logs.candidates(new LogFilter(), number, number);
      return candidate === undefined ? undefined : bytesToHex(logs.logsOf(candidate)!.bytes);
    });
  }
  return questions;
}
