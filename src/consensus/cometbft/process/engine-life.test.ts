import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import {
  EngineDisk,
  FakeCometBft,
  STEPS,
  type Step,
} from "../../../../test/support/consensus/cometbft/fake-cometbft.ts";
import {
  ACCOUNTS,
  CHAIN_ID,
  GENESIS_TIME,
  KEYS,
  openTestApplication,
  transferOf,
  VALIDATOR_POWER,
} from "../../../../test/support/consensus/test-application.ts";
import { createFaultyDisk } from "../../../../test/support/store/storage/faulty-disk.ts";
import { compressPublicKey } from "../../../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../../../base/crypto/secp256k1.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { LogDirectory } from "../../../store/storage/log/log-file.ts";
import type { ChainStart, Validator } from "../../application.ts";
import { appStateOf } from "../../chain-start.ts";
import { createAbciHandlers } from "../abci/handlers.ts";
import { type AbciServer, listenAbci } from "../abci/server.ts";
import { LastWords } from "./output.ts";

/** Blocks before a crash, and after it. */
const BEFORE = 3;
const BLOCKS = 6;
const VALIDATORS: readonly Validator[] = [0, 1, 2].map(validatorOf);

function validatorOf(account: number): Validator {
  const publicKey = compressPublicKey(publicKeyFromPrivate(KEYS[account]!));
  return { address: ACCOUNTS[account]!, publicKey, power: VALIDATOR_POWER };
}

/** A node whose processes end and start again, over what is on disk. */
class TestNode {
  readonly #folder = mkdtempSync(join(tmpdir(), "evmint-life-"));
  readonly #path = join(this.#folder, "abci.sock");
  disk = createFaultyDisk();
  readonly engineDisk = new EngineDisk();
  readonly failures: string[] = [];
  #log: LogDirectory = this.disk.directory;
  #server: AbciServer | undefined;
  application!: ReturnType<typeof openTestApplication>;
  engine!: FakeCometBft;

  /** The part of CometBFT's genesis that the application sees. */
  get genesis(): ChainStart {
    return {
      time: { seconds: GENESIS_TIME, nanos: 0 },
      chainId: `evmint-${CHAIN_ID}`,
      initialHeight: 1,
      validators: VALIDATORS,
      appState: Buffer.from(
        JSON.stringify(
          appStateOf({ genesisHash: this.application.chain.genesisHash, validatorPower: VALIDATOR_POWER }),
        ),
      ),
    };
  }

  async startNode(): Promise<void> {
    const startingSet = { initialHeight: 1, signers: VALIDATORS };
    this.application = openTestApplication({ log: this.#log, startingSet });
    const { application } = this.application;
    this.#server = await listenAbci(
      {
        path: this.#path,
        onEngineLost: () => application.engineLost(),
        onFailure: (error, call) => this.failures.push(`${call}: ${(error as Error).message}`),
      },
      createAbciHandlers({ version: "test", initialHeight: 1 }, application),
    );
  }

  async startEngine(genesis = this.genesis): Promise<void> {
    this.engine = await FakeCometBft.start(this.#path, genesis, this.engineDisk);
  }

  async start(): Promise<void> {
    await this.startNode();
    await this.startEngine();
  }

  /** CometBFT ends with the node. */
  async killNode(): Promise<void> {
    await this.#server?.close();
    await this.engine?.kill();
  }

  /** The next start finds what is on disk after a power cut, or nothing. */
  async loseDisk(choose?: () => number): Promise<void> {
    await this.killNode();
    this.#log = choose ? this.disk.powerCut(choose) : createFaultyDisk().directory;
  }

  /** The next block, with two transfers of its own. */
  async decide(until?: Step) {
    const height = this.engineDisk.blocks.length + 1;
    for (const account of [0, 1]) {
      assert.equal(await this.engine.insert(transferOf(account, height - 1).raw), 0);
    }
    return this.engine.decide(until);
  }

  async decideUntil(height: number): Promise<void> {
    while (this.engineDisk.blocks.length < height) assert.ok(await this.decide());
  }

  hashes(): readonly (string | undefined)[] {
    const { chain } = this.application;
    return this.engineDisk.blocks.map(({ height }) => chain.blockHash(height));
  }

  async close(): Promise<void> {
    await this.killNode();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Of CometBFT that ends with `error` over its handshake. */
function faultOfEnd(error: string) {
  const words = new LastWords();
  words.add(`ERROR: failed to create node: error during handshake: error on replay: ${error}`);
  return words.faultOf(1);
}

const nodes: TestNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

async function startNode(blocks = 0): Promise<TestNode> {
  const node = new TestNode();
  nodes.push(node);
  await node.start();
  await node.decideUntil(blocks);
  return node;
}

async function undisturbed(): Promise<readonly (string | undefined)[]> {
  return (await startNode(BLOCKS)).hashes();
}

type Crash = (node: TestNode) => Promise<void>;
const CRASHES: Readonly<Record<string, Crash>> = {
  async "the node"(node) {
    await node.killNode();
    await node.start();
  },
  async CometBFT(node) {
    await node.engine.kill();
    await node.startEngine();
  },
  async "the machine"(node) {
    let state = 7;
    await node.loseDisk(() => {
      state = (state * 75 + 74) % 65_537;
      return state & 0xff;
    });
    await node.start();
  },
};

for (const [what, crash] of Object.entries(CRASHES)) {
  for (const step of STEPS) {
    test(`${what} ends when a block is ${step}: the chain goes on as if it had not`, async () => {
      const expected = await undisturbed();
      const node = await startNode(BEFORE);
      await node.decide(step);
      const isDurable = STEPS.indexOf(step) >= STEPS.indexOf("committed");
      assert.equal(await node.engine.appHeight(), isDurable ? BEFORE + 1 : BEFORE);
      await crash(node);
      await node.decideUntil(BLOCKS);
      assert.deepEqual(node.hashes(), expected);
      assert.deepEqual(node.failures, []);
    });
  }
}

test("CometBFT's handshake makes the calls that the heights of both stores require", async () => {
  const node = await startNode(BEFORE);
  assert.deepEqual(node.engine.calls.slice(0, 1), ["initChain"]);
  const restart = async () => {
    await node.killNode();
    await node.start();
    return node.engine.calls;
  };
  assert.deepEqual(await restart(), [], "both at one height");
  await node.decide("decided");
  assert.deepEqual(await restart(), ["finalizeBlock", "commit"], "decided, not committed");
  await node.decide("committed");
  assert.deepEqual(await restart(), [], "committed, and the stored result used");
  const height = node.engineDisk.blocks.length;
  const hashes = node.hashes();
  await node.loseDisk();
  await node.start();
  const replay = Array.from({ length: height }, () => ["finalizeBlock", "commit"]).flat();
  assert.deepEqual(node.engine.calls, ["initChain", ...replay], "the application's data is lost");
  assert.deepEqual(node.hashes(), hashes);
});

test("initChain may be repeated until the first block, and rejects another genesis", async () => {
  const node = await startNode();
  await node.killNode();
  await node.start();
  await node.engine.kill();
  const other = {
    ...node.genesis,
    appState: Buffer.from(JSON.stringify(appStateOf({ genesisHash: ZERO_HASH, validatorPower: VALIDATOR_POWER }))),
  };
  await assert.rejects(node.startEngine(other));
  await node.startEngine();
  await node.decideUntil(1);
});

test("a chain that is ahead of CometBFT's store is rolled back to it", async () => {
  const node = await startNode(BLOCKS);
  const expected = node.hashes();
  await node.killNode();
  node.engineDisk.blocks.length = BEFORE;
  node.engineDisk.height = BEFORE;
  node.engineDisk.appHash = expected[BEFORE - 1];
  for (let height = BEFORE + 1; height <= BLOCKS; height++) node.engineDisk.results.delete(height);
  await node.startNode();
  const failure = await node.startEngine().then(
    () => undefined,
    (error: Error) => faultOfEnd(error.message),
  );
  assert.deepEqual(failure, { kind: "applicationAhead", storeHeight: BEFORE });
  node.application.chain.rollbackTo(BEFORE);
  await node.startEngine();
  await node.decideUntil(BLOCKS);
  assert.deepEqual(node.hashes(), expected);
});

test("a chain that needs blocks which CometBFT has pruned is named as that; one block before its first is enough", async () => {
  const node = await startNode(BLOCKS);
  const expected = node.hashes();
  const failureOfStart = () =>
    node.startEngine().then(
      () => undefined,
      (error: Error) => faultOfEnd(error.message),
    );
  await node.killNode();
  node.engineDisk.base = BEFORE + 2;
  await node.startNode();
  for (const [height, fault] of [
    [BEFORE + 1, undefined],
    [BEFORE, { kind: "applicationBehind", height: BEFORE, storeBase: BEFORE + 2 }],
    [0, { kind: "applicationBehind", height: 0, storeBase: BEFORE + 2 }],
  ] as const) {
    node.application.chain.rollbackTo(height);
    assert.deepEqual(await failureOfStart(), fault, `from block ${height}`);
    if (fault === undefined) assert.deepEqual(node.hashes(), expected);
    await node.engine.kill();
  }
});

test("CometBFT does not start where the app hashes differ", async () => {
  const node = await startNode(BEFORE);
  await node.killNode();
  node.engineDisk.appHash = node.hashes()[0];
  await assert.rejects(node.start());
});

test("a commit that cannot be made durable is not acknowledged, and the block follows after a restart", async () => {
  const expected = await undisturbed();
  const node = await startNode(BEFORE);
  node.disk.failSync();
  await assert.rejects(node.decide(), { message: "connection closed" });
  assert.equal(node.failures.length, 1);
  assert.match(node.failures[0]!, /^commit: /);
  node.disk.heal();
  await node.killNode();
  await node.start();
  await node.decideUntil(BLOCKS);
  assert.deepEqual(node.hashes(), expected);
});

test("the pool survives CometBFT, whose next start proposes from it", async () => {
  const node = await startNode(1);
  const transfer = transferOf(2, 0);
  assert.equal(await node.engine.insert(transfer.raw), 0);
  await node.engine.kill();
  await node.startEngine();
  await node.engine.decide();
  const { transactions } = node.application.chain.head().block;
  assert.deepEqual(
    transactions.map(({ hash }) => hash),
    [transfer.hash],
  );
});

test("a proposal that breaks a rule is rejected, and the next one is decided", async () => {
  const node = await startNode(BEFORE);
  const edits = {
    "without proposer data": (txs: readonly Uint8Array[]) => txs.slice(1),
    "in another order": ([first, ...rest]: readonly Uint8Array[]) => [...rest, first!],
    "with a transaction twice": (txs: readonly Uint8Array[]) => [...txs, txs.at(-1)!],
    "without anything": () => [],
  };
  for (const [what, edit] of Object.entries(edits)) {
    await node.engine.insert(transferOf(2, 0).raw);
    const decided = await node.engine.decide("saved", (input) => ({
      ...input,
      txs: edit(input.txs),
    }));
    assert.equal(decided, undefined, what);
    assert.equal(await node.engine.appHeight(), BEFORE);
  }
  await node.decideUntil(BEFORE + 1);
});

test("a validator that is voted in decides from the second block after, and proposes in turn", async () => {
  const node = await startNode(1);
  const candidate = validatorOf(3);
  node.application.voting.propose(candidate.address, true, candidate.publicKey);
  const isIn = (height: number) =>
    node.engine.validatorsAt(height).some(({ address }) => address === candidate.address);
  let decidedAt: number | undefined;
  for (let height = 2; height <= 12; height++) {
    const { validatorUpdates } = (await node.decide())!;
    if (validatorUpdates.length === 0) continue;
    assert.deepEqual(validatorUpdates, [candidate]);
    assert.equal(decidedAt, undefined);
    decidedAt = height;
  }
  const { voting } = node.application;
  const activeFrom = (number: number) => [...voting.activeFrom(number)!];
  assert.deepEqual(activeFrom(decidedAt!), [[candidate.address, decidedAt! + 2]]);
  assert.deepEqual([...activeFrom(decidedAt! - 1), ...activeFrom(decidedAt! + 1)], []);
  assert.equal(isIn(decidedAt! + 1), false);
  assert.equal(isIn(decidedAt! + 2), true);
  const proposers = node.engineDisk.blocks.slice(decidedAt! + 1).map(({ proposer }) => proposer);
  assert.ok(proposers.includes(candidate.address));
  const withIt = node.engineDisk.blocks.filter(({ lastCommit }) =>
    lastCommit.votes.some(({ address }) => address === candidate.address),
  );
  assert.equal(withIt[0]!.height, decidedAt! + 3);
});

test("transactions of peers and of users are handed on once, also to a CometBFT that was started again", async () => {
  const node = await startNode();
  const [first, second] = [transferOf(0, 0).raw, transferOf(1, 0).raw];
  await node.engine.insert(first);
  assert.deepEqual(await node.engine.reap(), [first]);
  await node.engine.kill();
  await node.startEngine();
  await node.engine.insert(second);
  assert.deepEqual(await node.engine.reap(), [second]);
  assert.deepEqual(await node.engine.reap(), []);
});
