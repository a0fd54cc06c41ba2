import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, addressToBytes, parseAddress } from "../../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../../src/base/primitives/keccak.ts";
import { signTransaction } from "../../../src/base/types/transaction/sign.ts";
import { DEFAULT_CHAIN_ID, renderGenesis } from "../../../src/node/config/genesis/genesis.ts";
import { loadConfig } from "../../../src/node/config/load.ts";
import { DEV_BALANCE } from "../../../src/node/keystore/dev-accounts.ts";
import { nodeOperations } from "../../../src/node/roles/operations.ts";
import { DEV_ADDRESSES } from "../accounts.ts";
import { STRICT_LOGGER } from "../base/telemetry/strict-logger.ts";
import { mulberry32 } from "../chain/random-chain.ts";
import { devPrivateKeys } from "../node/keystore/unlocked-signer.ts";
import { until } from "../until.ts";
import { type Damage, IndexPages, type PageKind, type PageWrite, rot } from "./index-pages.ts";
import { type Answer, NodeLife } from "./node-life.ts";

/** Stores the balance of the account in its argument under that account, and logs it: creation code. */
const PROBE = "0x695f35803181555f5fa1005f52600a6016f3";
/** A contract whose code is on overflow pages: creation code. */
const LARGE = `0x61177080600a5f395ff3${"00".repeat(6_000)}`;
const BATCH = 500;
export const FLAGS = {
  "json-rpc.enable": "true",
  "json-rpc.address": "127.0.0.1:0",
  "json-rpc.ws-address": "127.0.0.1:0",
  "json-rpc.api": "eth",
  "json-rpc.processes": "0",
  "consensus.block-time": "instant",
};

export type When = "before the start" | "while the node runs";

/** A home whose chain tells of each balance that its blocks were made with, and whose index is damaged again and again. */
export class DamagedHome {
  readonly home = mkdtempSync(join(tmpdir(), "evmint-damaged-"));
  readonly #accounts: number;
  readonly #below: (limit: number) => number;
  readonly #sent: { readonly hash: string; readonly account: number }[] = [];
  #nonce = 0;
  /** Number of the newest block, as the node answers it. */
  #head: unknown;
  /** Was sent, and not answered or refused: it is sent again. */
  #next: { readonly raw: string; readonly account: number } | undefined;

  /** @param accounts of the genesis, beside that of the sender */
  constructor(accounts: number, seed: number) {
    this.#accounts = accounts;
    const random = mulberry32(seed);
    this.#below = (limit) => Math.floor(random() * limit);
    mkdirSync(join(this.home, "config"));
    writeFileSync(join(this.home, "config/genesis.json"), this.#genesis());
  }

  /** Makes the chain, with rows in every table. */
  async begin(probes: number): Promise<void> {
    const life = await this.#start();
    try {
      await this.#create(life, PROBE);
      await this.#create(life, LARGE);
      for (let i = 0; i < probes; i++) await this.#probe(life, this.#below(this.#accounts));
      await this.#assertAnswers(life);
    } finally {
      await life.stop();
    }
  }

  get kinds(): readonly PageKind[] {
    return new IndexPages(this.#index).kinds;
  }

  /** Applies `damage` to a page of `kind`. False if no page can have it. */
  async damage(kind: PageKind, damage: Damage, when: When): Promise<boolean> {
    const write = new IndexPages(this.#index).damage(kind, damage, this.#below);
    if (write !== undefined) await this.#liveWith([write], when, this.#below(this.#accounts));
    return write !== undefined;
  }

  /** No row of an account that the next block reads is found, as if it had no account. */
  async hideAccount(when: When): Promise<void> {
    const account = this.#below(this.#accounts);
    const writes = new IndexPages(this.#index).withoutRowsOf(addressToBytes(addressOf(account)));
    assert.ok(writes.length > 0);
    await this.#liveWith(writes, when, account);
  }

  /** Has another node execute every block. @throws BlockRejectedError for a wrong one */
  async assertEveryBlock(): Promise<void> {
    const other = mkdtempSync(join(tmpdir(), "evmint-other-"));
    try {
      mkdirSync(join(other, "config"));
      writeFileSync(join(other, "config/genesis.json"), this.#genesis());
      const file = join(other, "chain.rlp");
      const work = { file, onProgress() {}, signal: new AbortController().signal };
      const { exported } = await nodeOperations.exportChain(configOf(this.home), STRICT_LOGGER, {
        ...work,
        first: undefined,
        last: undefined,
      });
      const { imported } = await nodeOperations.importChain(configOf(other), STRICT_LOGGER, work);
      assert.deepEqual([imported, imported >= this.#sent.length], [exported, true]);
    } finally {
      rmSync(other, { recursive: true });
    }
  }

  remove(): void {
    rmSync(this.home, { recursive: true });
  }

  /** A node lives with what `writes` leave of its index, until it is ready or ends; then one lives until it is ready. Transactions come all the time. */
  async #liveWith(writes: readonly PageWrite[], when: When, account: number): Promise<void> {
    const runs = when === "while the node runs";
    if (!runs) rot(this.#index, writes);
    const gate = join(this.home, "gate");
    const damaged = new NodeLife({ home: this.home, flags: FLAGS, gate, ...(runs && { writes }) });
    try {
      await this.#beforeCheck(damaged, account);
      writeFileSync(gate, "");
      if (await this.#untilReady(damaged, account)) await this.#assertAnswers(damaged);
    } catch (error) {
      // It may end, but not answer wrongly.
      if (error instanceof assert.AssertionError) throw error;
    } finally {
      await damaged.stop();
      rmSync(gate, { force: true });
    }
    const repaired = await this.#start();
    try {
      await this.#probe(repaired, this.#below(this.#accounts));
      await this.#assertAnswers(repaired);
    } finally {
      await repaired.stop();
    }
  }

  /** It accepts transactions, and makes no block; what it answers may be wrong. */
  async #beforeCheck(life: NodeLife, account: number): Promise<void> {
    try {
      await this.#send(life, () => this.#probeOf(account), account);
      const { ready, reason } = await life.readiness();
      // It found the damage as it opened the index.
      if (ready) return await this.#assertAnswers(life);
      const [number] = await life.ask([{ method: "eth_blockNumber", params: [] }]);
      assert.match(reason ?? "", /index is being checked/);
      assert.equal(number!.result, this.#head);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
  }

  async #start(): Promise<NodeLife> {
    const life = new NodeLife({ home: this.home, flags: FLAGS });
    if (await this.#untilReady(life, this.#below(this.#accounts))) return life;
    throw new Error(`the node ended: ${life.errors}`);
  }

  /** Sends transactions until the node is ready; false where it ends before. What it answers meanwhile may be wrong. */
  async #untilReady(life: NodeLife, account: number): Promise<boolean> {
    let isSent = false;
    let isReady = false;
    await until(async () => {
      try {
        if (!isSent && this.#sent.length > 1) isSent = await this.#send(life, () => this.#probeOf(account), account);
        isReady = await life.isReady();
      } catch {
        // It has no address yet, or none any more.
      }
      return isReady || life.hasEnded;
    }, "the node to be ready, or to end");
    return isReady;
  }

  /** Everything that was ever said is as it must be. */
  async #assertAnswers(life: NodeLife): Promise<void> {
    for (const { hash } of this.#sent)
      await until(async () => (await receiptOf(life, hash)) !== null, `block of ${hash}`);
    const probed = this.#sent.slice(2).map(({ account }) => addressOf(account));
    const contract = ((await receiptOf(life, this.#sent[0]!.hash)) as { contractAddress: string }).contractAddress;
    const questions = [
      ...Array.from({ length: this.#accounts }, (_, i) => ({
        method: "eth_getBalance",
        params: [addressOf(i), "latest"],
        right: `0x${balanceOf(i).toString(16)}`,
      })),
      ...this.#sent.slice(2).map(({ account }) => ({
        method: "eth_getStorageAt",
        params: [contract, wordOf(addressOf(account)), "latest"],
        right: `0x${balanceOf(account).toString(16).padStart(64, "0")}`,
      })),
      {
        method: "eth_getTransactionCount",
        params: [DEV_ADDRESSES[0], "latest"],
        right: `0x${this.#nonce.toString(16)}`,
      },
    ];
    for (let from = 0; from < questions.length; from += BATCH) {
      const batch = questions.slice(from, from + BATCH);
      const answers = await life.ask(batch.map(({ method, params }) => ({ method, params })));
      for (const [i, { method, params, right }] of batch.entries()) {
        assert.deepEqual(answers[i]?.result, right, `${method} ${params.join(" ")} of a node that is ready`);
      }
    }
    const filter = { fromBlock: "0x0", toBlock: "latest", address: contract };
    const [logs] = await life.ask([{ method: "eth_getLogs", params: [filter] }]);
    const topics = (logs!.result as { topics: string[] }[]).map(({ topics: [topic] }) => topic);
    assert.deepEqual(topics, probed.map(wordOf));
    const [number] = await life.ask([{ method: "eth_blockNumber", params: [] }]);
    this.#head = number!.result;
  }

  async #create(life: NodeLife, code: string): Promise<void> {
    await until(() => this.#send(life, () => this.#transaction(null, code), -1), "a contract to be accepted");
    await until(async () => (await receiptOf(life, this.#sent.at(-1)!.hash)) !== null, "a contract");
  }

  async #probe(life: NodeLife, account: number): Promise<void> {
    await until(() => this.#send(life, () => this.#probeOf(account), account), "a transaction to be accepted");
  }

  #probeOf(account: number): string {
    return this.#transaction(PROBE_ADDRESS, wordOf(addressOf(account)));
  }

  /** False where the node refuses it, as it may before it is ready. */
  async #send(life: NodeLife, sign: () => string, account: number): Promise<boolean> {
    this.#next ??= { raw: sign(), account };
    const { raw, account: probed } = this.#next;
    const [answer] = await life.ask([{ method: "eth_sendRawTransaction", params: [raw] }]);
    // It was stored before the node ended.
    const isKnown = answer?.error?.message === "already known" || answer?.error?.message.startsWith("nonce too low");
    if (answer?.result === undefined && isKnown !== true) return false;
    this.#sent.push({ hash: keccak256Hash(hexToBytes(raw)), account: probed });
    this.#next = undefined;
    this.#nonce++;
    return true;
  }

  #transaction(to: Address | null, data: string): string {
    const transaction = {
      type: 2,
      chainId: BigInt(DEFAULT_CHAIN_ID),
      nonce: BigInt(this.#nonce),
      gasLimit: to === null ? 3_000_000n : 100_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
      to,
      value: 0n,
      data: hexToBytes(data),
      accessList: [],
    } as const;
    return bytesToHex(signTransaction(transaction, devPrivateKeys()[0]!).raw);
  }

  #genesis(): string {
    const alloc = new Map([[parseAddress(DEV_ADDRESSES[0]!), DEV_BALANCE]]);
    for (let i = 0; i < this.#accounts; i++) alloc.set(addressOf(i), balanceOf(i));
    return renderGenesis({ chainId: DEFAULT_CHAIN_ID, timestamp: 1_700_000_000, alloc });
  }

  get #index(): string {
    return join(this.home, "data/index/data.mdb");
  }
}

/** The contract that the first account creates first. */
const PROBE_ADDRESS = parseAddress("0x5fbdb2315678afecb367f032d93f642f64180aa3");

function configOf(home: string) {
  return loadConfig({ home, dev: false, flags: FLAGS, environment: {} }).config;
}

function addressOf(account: number): Address {
  return parseAddress(`0x${(0x1000_0000_0000_0000n + BigInt(account) * 0x9e37_79b9n).toString(16).padStart(40, "0")}`);
}

function balanceOf(account: number): bigint {
  return 1_000_000n + BigInt(account);
}

function wordOf(address: Address): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

async function receiptOf(life: NodeLife, hash: string): Promise<Answer["result"]> {
  const [answer] = await life.ask([{ method: "eth_getTransactionReceipt", params: [hash] }]);
  return answer?.result;
}
