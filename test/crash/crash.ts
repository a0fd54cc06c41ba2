import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../../src/base/primitives/address.ts";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import type { LogBlockStore } from "../../src/chain/store/log-block-store.ts";
import { createMemoryBlockStore, openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { FAIL_POINTS, PRUNE_FAIL_POINTS, ROWS_FAIL_POINTS } from "../support/chain/fail-points.ts";
import { plain } from "../support/chain/plain.ts";
import { mulberry32, RandomChain } from "../support/chain/random-chain.ts";
import { testProgram } from "../support/test-program.ts";
import { type HomeKind, storeOptions } from "./limits.ts";

const WRITER = testProgram(new URL("writer.ts", import.meta.url));
/** Of so many kills one is not at a fail-point but at some moment. */
const RANDOM_MOMENT_EVERY = 4;

/** Steps that a life comes to a few times. */
const SELDOM: ReadonlySet<string> = new Set(["log:segment", ...ROWS_FAIL_POINTS]);

export type CrashReport = {
  readonly kills: number;
  readonly blocks: number;
  /** Number of the oldest block at the end. */
  readonly oldest: number;
};

/**
 * Kills a writing process `kills` times, at each fail-point in turn and between them at random
 * moments. After each death the store opens, has every block that was acknowledged and passes its
 * check; after the last one it is equal to a store that was never killed.
 */
export async function crashStore(kills: number, seed: number, kind: HomeKind = "lmdb"): Promise<CrashReport> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-crash-"));
  const home = { directory, kind };
  const more = { lmdb: ROWS_FAIL_POINTS, memory: [], retention: PRUNE_FAIL_POINTS }[kind];
  const points = [...more, ...FAIL_POINTS];
  const random = mulberry32(seed);
  try {
    const acknowledged: string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const isRandom = kill % RANDOM_MOMENT_EVERY === RANDOM_MOMENT_EVERY - 1;
      const point: string = points[(kill - Math.floor(kill / RANDOM_MOMENT_EVERY)) % points.length]!;
      const hits = 1 + Math.floor(random() * (SELDOM.has(point) ? 3 : 15));
      const death = isRandom ? { afterMs: random() * 60 } : { point, hits };
      await live(home, seed, death, acknowledged);
      assertNothingLost(home, acknowledged, death);
    }
    return { kills, ...assertEqualToTwin(home, seed) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

type Home = { readonly directory: string; readonly kind: HomeKind };
type Death = { readonly afterMs: number } | { readonly point: string; readonly hits: number };

/** One life of the writer; adds the blocks that it acknowledged. */
async function live({ directory, kind }: Home, seed: number, death: Death, acknowledged: string[]) {
  const fate = "point" in death ? [death.point, String(death.hits)] : [];
  const child = spawn(process.execPath, [...WRITER.execArgv, WRITER.file, directory, String(seed), kind, ...fate], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    if (said === "" && "afterMs" in death) setTimeout(() => child.kill("SIGKILL"), death.afterMs);
    said += text;
  });
  const [, signal] = await once(child, "close");
  assert.equal(signal, "SIGKILL", `the writer must die of its kill: ${JSON.stringify(death)}`);
  for (const line of said.split("\n").slice(0, -1)) {
    const [number, hash] = line.split(" ");
    if (number !== "open") acknowledged[Number(number)] = hash!;
  }
}

function assertNothingLost(home: Home, acknowledged: readonly string[], death: Death): void {
  const store = openStore(home);
  try {
    const context = JSON.stringify(death);
    assert.ok((store.head() ?? -1) >= acknowledged.length - 1, `blocks lost after ${context}`);
    for (const [number, hash] of acknowledged.entries()) {
      // One that was written but not acknowledged has no line; the next life starts after it.
      if (hash !== undefined && number >= store.base()!) assert.equal(store.block(number)?.block.hash, hash, context);
    }
    while (store.pruneSome());
    assert.deepEqual(store.check().faults, [], context);
  } finally {
    store.close();
  }
}

/** Number of blocks, after checking that all blocks and states equal those of a store that was never killed. */
function assertEqualToTwin(home: Home, seed: number): Omit<CrashReport, "kills"> {
  const store = openStore(home);
  const twin = createMemoryBlockStore({ defer: deferNothing, createTrie: createStateTrie });
  try {
    const chain = new RandomChain(seed);
    const addresses = new Set<Address>();
    const blocks = (store.head() ?? -1) + 1;
    for (let number = 0; number < blocks; number++) {
      const { record, nodes } = chain.next();
      twin.append(record, nodes);
      for (const { address } of record.changes.accounts) addresses.add(address);
    }
    for (let number = store.base() ?? 0; number < blocks; number++) {
      assert.deepEqual(plain(store.block(number)), plain(twin.block(number)));
      if (number < store.stateBase()) continue;
      assert.deepEqual(stateOf(store, number, addresses), stateOf(twin, number, addresses));
    }
    return { blocks, oldest: store.base() ?? 0 };
  } finally {
    twin.close();
    store.close();
  }
}

function stateOf(store: LogBlockStore, number: number, addresses: ReadonlySet<Address>) {
  const state = store.stateAt(number);
  return Array.from(addresses, (address) => ({
    address,
    account: state.account(address),
    storage: new Map(state.storageEntries(address)),
  }));
}

function openStore({ directory, kind }: Home): LogBlockStore {
  return openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie, ...storeOptions(kind) });
}
