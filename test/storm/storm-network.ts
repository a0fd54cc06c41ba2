import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import { nodeIdOf } from "../../src/consensus/cometbft/home/home.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { mulberry32 } from "../support/chain/random-chain.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { ChainModel } from "./chain-model.ts";
import { checkHome } from "./check-home.ts";
import { contractsOf } from "./contracts.ts";
import { asFailure, StormFailure } from "./failure.ts";
import { drawSettings, type HomeSettings } from "./home-settings.ts";
import type { KillKind, KillPlan } from "./kill-plan.ts";
import { Ledger } from "./ledger.ts";
import { killProcess } from "./node-process.ts";
import { Sender } from "./sender.ts";
import type { HomeReport, KillResult, Storm, StormOptions } from "./storm.ts";
import { logFileOf, StormNode } from "./storm-node.ts";

const VALIDATORS = 4;
const SENDERS_PER_NODE = 2;
/** What `evmintd testnet --fund` gives an account. */
const FUNDED_BALANCE = 10n ** 24n;
/** Of the time under load before a kill. Milliseconds. */
const LIFE_MS_MIN = 100;
const LIFE_MS_MAX = 1_500;
/** Numbers of validators that are killed at once, as often as they are listed: two of four halt the network. */
const VICTIMS = [1, 1, 1, 1, 1, 2, 2, 3, 4, 4] as const;
const KINDS: readonly KillKind[] = ["moment", "moment", "all", "all", "engine", "stopped"];

/** Four validators on this machine, any number of which are killed at once. A node must repeat its earlier answers. */
export class StormNetwork implements Storm {
  readonly #options: StormOptions;
  readonly #random: () => number;
  readonly #settings: HomeSettings;
  readonly #model: ChainModel;
  readonly #nodes: readonly StormNode[];
  readonly #addresses: readonly string[];
  #plan: KillPlan | undefined;

  constructor(options: StormOptions) {
    this.#options = options;
    this.#random = mulberry32(Math.imul(options.seed, 0x9e3779b1));
    const keys = devPrivateKeys().slice(0, VALIDATORS * SENDERS_PER_NODE);
    const addresses = keys.map(addressFromPrivateKey);
    this.#addresses = addresses;
    const contracts = contractsOf(addresses[0]!);
    this.#model = new ChainModel(contracts, new Map(addresses.map((address) => [address, FUNDED_BALANCE])));
    const settings = drawSettings("network", this.#random, options.firstPort);
    this.#settings = settings;
    const allSenders = keys.map(
      (privateKey, index) =>
        new Sender({
          privateKey,
          contracts,
          chainId: settings.chainId,
          isDeployer: index === 0,
          hasStateGas: false,
          random: mulberry32(options.seed + index + 1),
        }),
    );
    this.#nodes = Array.from({ length: VALIDATORS }, (_, index) => {
      const ledger = new Ledger({
        model: this.#model,
        contracts,
        allSenders,
        senders: allSenders.slice(SENDERS_PER_NODE * index, SENDERS_PER_NODE * (index + 1)),
        retainedBlocks: settings.retainedBlocks,
        random: this.#random,
      });
      const flags = { ...settings.flags, "cometbft.p2p-address": this.#p2pAddress(index), "metrics.enable": "false" };
      return new StormNode({
        home: join(options.directory, "net", `validator-${index}`),
        logFile: `${logFileOf(options.directory)}.${index}`,
        settings: { ...settings, flags },
        ledger,
        random: this.#random,
      });
    });
  }

  async run(): Promise<HomeReport> {
    try {
      await this.#makeHomes();
      await Promise.all(this.#nodes.map((node) => node.start()));
      await this.#assertBlocks(this.#nodes);
      for (let kills = 0; kills < this.#options.kills && !this.#options.signal?.aborted; ) {
        const killed = await this.#kill();
        kills += killed.nodes;
        this.#options.onKill(killed);
      }
      await Promise.all(this.#nodes.map((node) => node.kill()));
      await checkHome(this.#nodes[0]!.home, this.#settings);
    } catch (error) {
      throw asFailure(error, this.#plan);
    } finally {
      await Promise.all(this.#nodes.map((node) => node.end()));
    }
    const sum = (of: (node: StormNode) => number) => this.#nodes.reduce((total, node) => total + of(node), 0);
    return {
      blocks: this.#model.head,
      blocksOfAmsterdam: this.#model.blocksOfAmsterdam,
      transactionsAnswered: sum(({ answered }) => answered),
      blocksSeen: sum(({ ledger }) => ledger.blocksSeen),
      receiptsSeen: sum(({ ledger }) => ledger.receiptsSeen),
      speculated: {},
      leftovers: sum(({ leftovers }) => leftovers),
    };
  }

  async #makeHomes(): Promise<void> {
    const { code, stderr } = await runEvmintd([
      "testnet",
      ...["--output", join(this.#options.directory, "net")],
      ...["--validators", String(VALIDATORS)],
      ...this.#addresses.flatMap((address) => ["--fund", address]),
    ]);
    if (code !== 0) throw new Error(stderr);
    const ids = this.#nodes.map(({ home }) => nodeIdOf(cometbftPath(home)));
    for (const node of this.#nodes) {
      const peers = ids.flatMap((id, index) => (this.#nodes[index] === node ? [] : `${id}@${this.#p2pAddress(index)}`));
      node.setFlag("cometbft.persistent-peers", peers.join());
    }
  }

  #p2pAddress(index: number): string {
    return `127.0.0.1:${this.#options.firstPort + index}`;
  }

  async #kill(): Promise<KillResult> {
    const kind = KINDS[Math.floor(this.#random() * KINDS.length)]!;
    const count = VICTIMS[Math.floor(this.#random() * VICTIMS.length)]!;
    const afterMs = LIFE_MS_MIN + this.#random() * (LIFE_MS_MAX - LIFE_MS_MIN);
    this.#plan = { kind, afterMs, armed: undefined };
    const first = Math.floor(this.#random() * VALIDATORS);
    const victims = Array.from({ length: count }, (_, index) => this.#nodes[(first + index) % VALIDATORS]!);
    for (const node of this.#nodes) node.load.start();
    await sleep(afterMs);
    const killedMs = performance.now();
    await Promise.all(victims.map((node) => this.#killOne(node, kind)));
    const isRestarted = kind !== "engine";
    for (const node of this.#nodes) {
      await node.endLoad();
      if (isRestarted && victims.includes(node)) node.spawn();
      else await node.beginLoad();
    }
    if (isRestarted) await Promise.all(victims.map((node) => node.answer()));
    await this.#assertBlocks(this.#nodes);
    const blockMs = Math.max(...victims.map(({ load }) => load.firstBlockMs!)) - killedMs;
    await Promise.all(this.#nodes.map((node) => node.check()));
    return {
      kind,
      nodes: count,
      step: undefined,
      restartMs: isRestarted ? Math.max(...victims.map(({ restartMs }) => restartMs)) : undefined,
      blockMs,
    };
  }

  async #killOne(node: StormNode, kind: KillKind): Promise<void> {
    if (kind === "engine") {
      for (const pid of node.process.childrenNamed("cometbft")) killProcess(pid);
      return;
    }
    if (kind === "stopped") {
      node.process.signal("SIGSTOP");
      await sleep(this.#random() * 500);
    }
    await node.kill({ withChildren: kind === "all" });
  }

  /** Every node must be notified of a block that was made after its clients began. @throws StormFailure */
  async #assertBlocks(nodes: readonly StormNode[]): Promise<void> {
    for (const node of nodes) await node.nextBlock();
    const heads = await Promise.all(nodes.map(({ process }) => process.rpc.call("eth_blockNumber")));
    const lowest = Math.min(...heads.map(Number));
    const blocks = await Promise.all(
      nodes.map(({ process }) => process.rpc.call("eth_getBlockByNumber", `0x${lowest.toString(16)}`, false)),
    );
    const hashes = new Set(blocks.map(({ hash }) => hash));
    if (hashes.size !== 1) throw new StormFailure("BLOCK_CHANGED", `block ${lowest} is ${[...hashes].join(", ")}`);
  }
}
