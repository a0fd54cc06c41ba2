/**
 * Random sequences of control calls, transactions, reverts and restarts against a model in memory, and a node that is killed between
 * control calls.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hex } from "../../src/base/primitives/hex.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startEvmintd } from "../support/evmintd.ts";
import fc from "../support/fast-check.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-dev-model-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const SENDER = DEV_ADDRESSES[0];
const ACCOUNTS = [1, 2, 3].map((n) => `0x${"00".repeat(18)}be0${n}` as Hex);
const COINBASES = [4, 5].map((n) => `0x${"00".repeat(18)}be0${n}` as Hex);
const quantity = (value: number) => `0x${value.toString(16)}`;

type Account = { balance: number; nonce: number; code: string; slot: number };
type World = {
  number: number;
  accounts: Account[];
  coinbase: Hex | undefined;
  gasLimit: number | undefined;
};
type Model = World & {
  snapshots: Map<string, World>;
  /** By index: accounts that send without a key, which a revert does not change. */
  impersonated: boolean[];
};

const copyOf = ({ number, accounts, coinbase, gasLimit }: World): World => ({
  number,
  accounts: accounts.map((account) => ({ ...account })),
  coinbase,
  gasLimit,
});

const newWorld = (): World & Pick<Model, "impersonated"> => ({
  number: 0,
  accounts: ACCOUNTS.map(() => ({ balance: 0, nonce: 0, code: "0x", slot: 0 })),
  impersonated: ACCOUNTS.map(() => false),
  coinbase: undefined,
  gasLimit: undefined,
});

type Step = readonly [kind: string, account: number, value: number];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(
    ...["balance", "nonce", "code", "slot", "send", "send", "send", "mine", "snapshot", "snapshot"],
    ...["revert", "restart", "check", "impersonate", "impersonate", "coinbase", "gasLimit", "reset"],
  ),
  fc.nat(2),
  fc.integer({ min: 1, max: 200 }),
);

/** A node and what it must answer. */
class Checked {
  readonly #home = mkdtempSync(join(folder, "home-"));
  #node: TestNode | undefined;
  readonly #model: Model = { ...newWorld(), snapshots: new Map() };

  async start(): Promise<void> {
    // So small that the journal begins anew every few calls.
    const hooks = { devJournalBytesMin: 500 };
    this.#node = await startTestNode({ dev: true, home: this.#home, settings: ONE_PROCESS, hooks });
  }

  async stop(): Promise<void> {
    await this.#node?.stop();
  }

  async run([kind, index, value]: Step): Promise<void> {
    const model = this.#model;
    const account = model.accounts[index]!;
    const address = ACCOUNTS[index]!;
    if (kind === "balance") {
      await this.#ask("anvil_setBalance", address, quantity(value));
      account.balance = value;
    } else if (kind === "nonce") {
      await this.#ask("anvil_setNonce", address, quantity(value));
      account.nonce = value;
    } else if (kind === "code") {
      account.code = `0x00${value.toString(16).padStart(2, "0")}`;
      await this.#ask("anvil_setCode", address, account.code);
    } else if (kind === "slot") {
      await this.#ask("anvil_setStorageAt", address, "0x1", quantity(value));
      account.slot = value;
    } else if (kind === "send") {
      const request = { from: SENDER, to: address, value: quantity(value), gas: "0xffff" };
      const hash = await this.#ask("eth_sendTransaction", request);
      const receipt = (await this.#ask("eth_getTransactionReceipt", hash)) as { status: string };
      assert.equal(receipt.status, "0x1");
      account.balance += value;
      model.number++;
      await this.#checkNewest();
    } else if (kind === "impersonate") {
      model.impersonated[index] = value % 2 === 0;
      const verb = model.impersonated[index] ? "impersonate" : "stopImpersonating";
      await this.#ask(`hardhat_${verb}Account`, address);
    } else if (kind === "coinbase") {
      model.coinbase = COINBASES[value % 2];
      await this.#ask("hardhat_setCoinbase", model.coinbase);
    } else if (kind === "gasLimit") {
      model.gasLimit = 40_000_000 + value;
      await this.#ask("evm_setBlockGasLimit", quantity(model.gasLimit));
    } else if (kind === "reset") {
      await this.#ask("hardhat_reset");
      Object.assign(model, newWorld());
      model.snapshots.clear();
    } else if (kind === "mine") {
      await this.#ask("anvil_mine", quantity(value % 5), "0x3");
      model.number += value % 5;
      if (value % 5 > 0) await this.#checkNewest();
    } else if (kind === "snapshot") {
      model.snapshots.set((await this.#ask("evm_snapshot")) as string, copyOf(model));
    } else if (kind === "revert") {
      await this.#revert(value);
    } else if (kind === "restart") {
      await this.stop();
      await this.start();
    }
    await this.check();
  }

  async check(): Promise<void> {
    const { number, accounts, impersonated } = this.#model;
    assert.equal(await this.#ask("eth_blockNumber"), quantity(number));
    const { devChain } = this.#node!.node.core;
    for (const [i, address] of ACCOUNTS.entries()) {
      const account = accounts[i]!;
      assert.equal(devChain!.isImpersonated(address as Address), impersonated[i]);
      assert.equal(await this.#ask("eth_getBalance", address, "latest"), quantity(account.balance));
      assert.equal(await this.#ask("eth_getTransactionCount", address, "latest"), quantity(account.nonce));
      assert.equal(await this.#ask("eth_getCode", address, "latest"), account.code);
      const slot = await this.#ask("eth_getStorageAt", address, "0x1", "latest");
      assert.equal(Number(slot), account.slot);
    }
  }

  /** A block that was made under the settings of the model. */
  async #checkNewest(): Promise<void> {
    const block = await this.#ask("eth_getBlockByNumber", "latest", false);
    const { miner, gasLimit } = block as { miner: Hex; gasLimit: Hex };
    const { coinbase, gasLimit: limit } = this.#model;
    if (coinbase === undefined) assert.ok(!COINBASES.includes(miner));
    else assert.equal(miner, coinbase);
    if (limit === undefined) assert.ok(Number(gasLimit) < 40_000_000 || Number(gasLimit) > 40_001_000);
    else assert.equal(Number(gasLimit), limit);
  }

  assertStoreIsClean(): void {
    assert.deepEqual(this.#node!.node.core.store.check().faults, []);
  }

  async #revert(value: number): Promise<void> {
    const ids = [...this.#model.snapshots.keys()];
    const id = ids[value % (ids.length + 1)];
    if (id === undefined) {
      assert.equal(await this.#ask("evm_revert", "0xffff"), false);
      return;
    }
    assert.equal(await this.#ask("evm_revert", id), true);
    Object.assign(this.#model, copyOf(this.#model.snapshots.get(id)!));
    for (const other of ids) if (Number(other) >= Number(id)) this.#model.snapshots.delete(other);
  }

  async #ask(method: string, ...params: unknown[]): Promise<unknown> {
    const { result, error } = await callHttp(this.#node!.url, method, params);
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result;
  }
}

test("random control calls, transactions, reverts and restarts equal a model in memory", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const checked = new Checked();
      await checked.start();
      try {
        for (const each of steps) await checked.run(each);
        checked.assertStoreIsClean();
      } finally {
        await checked.stop();
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

test("a node that is killed comes back with every control call that was answered", async () => {
  const home = join(folder, "killed");
  const [address] = ACCOUNTS;
  const read = async (url: string) => ({
    balance: (await callHttp(url, "eth_getBalance", [address, "latest"])).result,
    slot: (await callHttp(url, "eth_getStorageAt", [address, "0x1", "latest"])).result,
    automine: (await callHttp(url, "anvil_getAutomine")).result,
    interval: (await callHttp(url, "anvil_getIntervalMining")).result,
    number: (await callHttp(url, "eth_blockNumber")).result,
  });
  const CALLS: readonly (readonly [method: string, ...params: unknown[]])[] = [
    ["anvil_setBalance", address, "0x5"],
    ["anvil_mine", "0x2"],
    ["anvil_setBalance", address, "0x7"],
    ["evm_snapshot"],
    ["anvil_setStorageAt", address, "0x1", "0x9"],
    ["evm_setAutomine", false],
    ["anvil_setIntervalMining", 3600],
    ["anvil_mine", "0x1"],
    ["evm_revert", "0x1"],
    ["anvil_rollback", 1],
  ];
  let before: Awaited<ReturnType<typeof read>> | undefined;
  for (const [method, ...params] of CALLS) {
    const { child, exited, url } = await startEvmintd(home, ["--dev"]);
    if (before !== undefined) assert.deepEqual(await read(url), before, `before ${method}`);
    const { error } = await callHttp(url, method, params);
    assert.equal(error, undefined, method);
    before = await read(url);
    child.kill("SIGKILL");
    await exited;
  }
  const { child, exited, url } = await startEvmintd(home, ["--dev"]);
  assert.deepEqual(await read(url), before);
  child.kill("SIGKILL");
  await exited;
});

test("a node that is killed while it mines many empty blocks comes back with none of them", async () => {
  const home = join(folder, "mining");
  const first = await startEvmintd(home, ["--dev"]);
  const blockNumber = async (url: string) => Number((await callHttp(url, "eth_blockNumber")).result);
  assert.equal((await callHttp(first.url, "anvil_mine", [5])).error, undefined);
  const mining = callHttp(first.url, "anvil_mine", [100_000]).catch(() => undefined);
  await until(async () => (await blockNumber(first.url)) > 50, "blocks of the range");
  first.child.kill("SIGKILL");
  await first.exited;
  assert.equal(await mining, undefined);
  const second = await startEvmintd(home, ["--dev"]);
  assert.equal(await blockNumber(second.url), 5);
  assert.equal((await callHttp(second.url, "anvil_mine", [3])).error, undefined);
  second.child.kill("SIGKILL");
  await second.exited;
  const third = await startEvmintd(home, ["--dev"]);
  assert.equal(await blockNumber(third.url), 8);
  third.child.kill("SIGKILL");
  await third.exited;
});
