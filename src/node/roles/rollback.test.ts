import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { createNode } from "../../index.ts";
import { setAsidePath } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { openChain } from "./chain/open-chain.ts";
import { nodeOperations } from "./operations.ts";
import { type RollbackEngine, rollBackChain } from "./rollback.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-rollback-"));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

const HEAD = 6;

async function newHome() {
  const home = join(folder, String(count++));
  const node = await createNode({ home });
  for (let number = 1; number <= HEAD; number++) await node.mine();
  await node.stop();
  return loadConfig({ home, dev: true, flags: {}, environment: {} }).config;
}

/** A CometBFT with blocks `base` to `height`, which logs what is done with it and may end the process there. */
class FakeEngine implements RollbackEngine {
  readonly calls: string[] = [];
  diesAt: string | undefined;
  /** Of the last block whose result it has. */
  resultHeight: number;
  initialHeight = 1;
  readonly #range: { readonly base: number; readonly height: number };

  constructor(base: number, height: number) {
    this.#range = { base, height };
    this.resultHeight = height;
  }

  range = async () => this.#range;

  forgetLastResult = async () => {
    this.#call("forget");
    if (this.resultHeight === this.#range.height) this.resultHeight--;
  };

  setAside = () => {
    this.#call("set aside");
    return "/aside";
  };

  #call(name: string): void {
    if (this.diesAt === name) throw new Error("dies");
    this.calls.push(name);
  }
}

type Options = { readonly to: number; readonly fromPeers?: boolean; readonly signal?: AbortSignal };

/** Rolls back as one run of the command: the chain is opened and closed. @param edit of the chain as it sees it */
async function run(
  config: Awaited<ReturnType<typeof newHome>>,
  engine: RollbackEngine | undefined,
  { to, fromPeers = false, signal = new AbortController().signal }: Options,
  proofBase?: number,
) {
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  const setAsideDirectory = setAsidePath(config.home);
  const seen = proofBase === undefined ? store : { proofBase: () => proofBase };
  try {
    const options = { to, fromPeers, signal, onProgress() {} };
    return await rollBackChain(options, { chain, store: seen, setAsideDirectory, engine });
  } finally {
    store.close();
  }
}

function headOf(config: Awaited<ReturnType<typeof newHome>>): number {
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  store.close();
  return chain.head().block.header.number;
}

describe("rollBackChain", () => {
  test("removes blocks into a file, and CometBFT executes its last one again", async () => {
    const config = await newHome();
    const engine = new FakeEngine(1, HEAD);
    const result = await run(config, engine, { to: 2 });
    assert.deepEqual([result.head, result.removed, headOf(config)], [2, 4, 2]);
    assert.deepEqual([engine.calls, engine.resultHeight], [["forget"], HEAD - 1]);
    const again = await run(config, engine, { to: 2 });
    assert.deepEqual([again.head, again.removed, engine.resultHeight], [2, 0, HEAD - 1]);
    assert.deepEqual(readdirSync(setAsidePath(config.home)), [result.file!.split("/").at(-1)]);
  });

  test("changes no CometBFT that has none of the blocks which go", async () => {
    const config = await newHome();
    for (const height of [0, 2, 3]) {
      const engine = new FakeEngine(Math.min(1, height), height);
      await run(config, engine, { to: 3 });
      assert.deepEqual(engine.calls, []);
    }
  });

  for (const [step, fromPeers] of [
    ["forget", false],
    ["set aside", true],
  ] as const) {
    test(`leaves the chain whole where it dies at "${step}", and a second call does the rest`, async () => {
      const config = await newHome();
      const engine = new FakeEngine(1, HEAD);
      engine.diesAt = step;
      await assert.rejects(run(config, engine, { to: 2, fromPeers }), { message: "dies" });
      assert.equal(headOf(config), HEAD);
      engine.diesAt = undefined;
      const { head, file } = await run(config, engine, { to: 2, fromPeers });
      assert.deepEqual([head, headOf(config), engine.calls], [2, 2, [step]]);
      assert.deepEqual(readdirSync(setAsidePath(config.home)), [file!.split("/").at(-1)]);
    });
  }

  test("removes nothing where CometBFT or the chain lacks what it takes", async () => {
    const config = await newHome();
    const engine = (base: number, initialHeight = 1) => Object.assign(new FakeEngine(base, HEAD), { initialHeight });
    const impossible = { code: "ROLLBACK_IMPOSSIBLE" };
    const pruned = engine(5);
    await assert.rejects(run(config, pruned, { to: 3 }), impossible);
    await assert.rejects(run(config, engine(HEAD), { to: HEAD - 1 }), impossible);
    const late = engine(4, 4);
    await assert.rejects(run(config, late, { to: 2 }), impossible);
    await assert.rejects(run(config, late, { to: 2, fromPeers: true }), impossible);
    await assert.rejects(run(config, engine(1), { to: HEAD + 1 }), { code: "UNKNOWN_RANGE" });
    await assert.rejects(run(config, engine(1), { to: -1 }), { code: "UNKNOWN_RANGE" });
    await assert.rejects(run(config, engine(1), { to: 3 }, 4), { code: "BLOCK_STATE_PRUNED" });
    assert.deepEqual([pruned.calls, late.calls, headOf(config)], [[], [], HEAD]);
    assert.ok(!existsSync(setAsidePath(config.home)));
    assert.equal((await run(config, pruned, { to: 4 })).head, 4);
  });

  test("removes nothing where it is ended before the file is whole", async () => {
    const config = await newHome();
    const engine = new FakeEngine(1, HEAD);
    assert.deepEqual(await run(config, engine, { to: 2, signal: AbortSignal.abort() }), { head: HEAD, removed: 0 });
    assert.deepEqual([headOf(config), engine.calls, readdirSync(setAsidePath(config.home))], [HEAD, [], []]);
  });

  test("rejects a home whose node runs", async () => {
    const config = await newHome();
    const node = await createNode({ home: config.home });
    const options = { back: { to: 1 }, fromPeers: false, signal: new AbortController().signal, onProgress() {} };
    await assert.rejects(nodeOperations.rollback(config, STRICT_LOGGER, options), { code: "STORE_LOCKED" });
    await node.stop();
    assert.equal((await nodeOperations.rollback(config, STRICT_LOGGER, options)).removed, HEAD - 1);
  });
});
