import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bigintToFixedBytes } from "../../../../src/base/primitives/bytes.ts";
import type { Hash } from "../../../../src/base/primitives/hash.ts";
import { engineConfigToml, engineGenesisJson } from "../../../../src/consensus/cometbft/home/config.ts";
import {
  createEngineGenesis,
  createEngineKeys,
  nodeIdOf,
  writeEngineConfig,
} from "../../../../src/consensus/cometbft/home/home.ts";
import { validatorPublicKey } from "../../../../src/consensus/cometbft/signing/key-files.ts";
import { mulberry32 } from "../../../support/chain/random-chain.ts";
import { AbciContract, type AbciEvent } from "../contract/abci-contract.ts";
import type { HostileKind } from "../hostility.ts";
import { runCometBft } from "../run.ts";
import { SigningKeys } from "../signing-keys.ts";
import type { HttpHandler, World } from "../world.ts";
import { ChainApplication } from "./chain-application.ts";
import { PeerLinks } from "./peer-links.ts";
import { ProcessTime, VirtualTime } from "./virtual-time.ts";

export const START_SECONDS = 1_700_000_000;
const GENESIS_HASH: Hash = `0x${"11".repeat(32)}` as Hash;

type ModelNetworkOptions = {
  readonly seed?: number;
  readonly validators: number;
  readonly followers?: number;
  readonly blockTimeMs?: number;
  readonly power?: number;
  readonly initialHeight?: number;
};

/** Models of CometBFT with a small application each, in one process, in virtual time, over links that can fail. */
export class ModelNetwork {
  readonly folder = mkdtempSync(join(tmpdir(), "engine-model-"));
  readonly time = new VirtualTime(START_SECONDS * 1000 + 2_000);
  readonly random: () => number;
  readonly links: PeerLinks;
  readonly keys = new SigningKeys();
  readonly nodes: readonly ModelNode[];
  /** Sees every call of every node. */
  readonly contract = new AbciContract();
  #violation: string | undefined;

  constructor(options: ModelNetworkOptions) {
    const { validators, followers = 0, power = 10 } = options;
    this.random = mulberry32(options.seed ?? 1);
    this.links = new PeerLinks(this.time, this.random);
    const homes = Array.from({ length: validators + followers }, (_, index) => {
      const home = join(this.folder, String(index));
      createEngineKeys(home, { privateKey: bigintToFixedBytes(BigInt(index + 1), 32) });
      return home;
    });
    const genesis = engineGenesisJson({
      chainId: 9000n,
      genesisTime: START_SECONDS,
      initialHeight: options.initialHeight ?? 1,
      genesisHash: GENESIS_HASH,
      power,
      validators: homes
        .slice(0, validators)
        .map((home, index) => ({ publicKey: validatorPublicKey(home), name: `v${index}` })),
    });
    const addresses = homes.map((home, index) => `${nodeIdOf(home)}@10.0.0.${index + 1}:26656`);
    this.nodes = homes.map((home, index) => {
      createEngineGenesis(home, genesis);
      const node = new ModelNode(this, home);
      node.configure({
        address: `10.0.0.${index + 1}:26656`,
        peers: addresses.filter((_, other) => other !== index),
        blockTimeMs: options.blockTimeMs ?? 1_000,
      });
      return node;
    });
  }

  start(): void {
    for (const node of this.nodes) node.start();
  }

  /** The first broken rule is what `reach` and `close` throw. */
  observe(id: string, connection: number, event: AbciEvent): void {
    this.#violation ??= this.contract.observe(id, connection, event);
  }

  /** @param server the identity of a node */
  async callRpc(
    caller: ProcessTime,
    { server, method, params }: { readonly server: string; readonly method: string; readonly params: object },
  ): Promise<unknown> {
    await new Promise<void>((resolve) => {
      caller.after(this.random() * 10, resolve);
    });
    const node = this.nodes.find(({ id }) => id === server);
    if (!node?.http) throw new Error(`${server} does not answer`);
    return node.rpc(method, params);
  }

  /** Runs until all nodes have committed `height`. @throws Error after `ms` */
  async reach(height: number, ms = 60_000, nodes = this.nodes): Promise<void> {
    const isDone = () => nodes.every(({ application }) => application.disk.height >= height);
    const isReached = await this.time.run(ms, isDone);
    if (this.#violation !== undefined) throw new Error(this.#violation);
    if (isReached) return;
    const heights = this.nodes.map(({ application }) => application.disk.height);
    throw new Error(`not all nodes reached ${height} in ${ms} ms: ${heights.join(", ")}`);
  }

  close(): void {
    for (const node of this.nodes) node.kill();
    rmSync(this.folder, { recursive: true });
    if (this.#violation !== undefined) throw new Error(this.#violation);
  }
}

/** One home with its application; the process runs from `start` to `kill` or its own end. */
export class ModelNode {
  readonly home: string;
  readonly id: string;
  application = new ChainApplication();
  readonly stdout: string[] = [];
  stderr: string[] = [];
  exitCode: number | undefined;
  http: HttpHandler | undefined;
  /** How it works against the others. */
  hostile: ReadonlySet<HostileKind> = new Set();
  readonly #network: ModelNetwork;
  #process: ProcessTime | undefined;
  #onSignal: (signal: "SIGTERM") => void = () => {};

  constructor(network: ModelNetwork, home: string) {
    this.#network = network;
    this.home = home;
    this.id = nodeIdOf(home);
  }

  configure(options: {
    readonly address: string;
    readonly peers: readonly string[];
    readonly blockTimeMs: number;
    readonly stateSync?: Parameters<typeof engineConfigToml>[0]["stateSync"];
  }): void {
    const { address, peers, blockTimeMs, stateSync } = options;
    const toml = engineConfigToml({
      abciSocket: "/abci.sock",
      moniker: this.id,
      p2pAddress: address,
      externalAddress: "",
      peers: { persistent: peers, trusted: [], rejected: [] },
      isLocalNet: true,
      p2p: { isEnabled: true, seeds: [], privateIds: [], inboundMax: 40 },
      metricsAddress: "",
      additions: new Map(),
      blockTimeMs,
      key: { kind: "file" },
      ...(stateSync && { stateSync }),
    });
    writeEngineConfig(this.home, toml);
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  start(): void {
    const { time, links, keys, random } = this.#network;
    const process = new ProcessTime(time);
    this.#process = process;
    this.exitCode = undefined;
    this.stderr = [];
    const world: World = {
      random,
      keys,
      observeAbci: (connection, event) => this.#network.observe(this.id, connection, event),
      hostile: () => this.hostile,
      stdout: (line) => this.stdout.push(line),
      stderr: (line) => this.stderr.push(line),
      exit: (code) => {
        this.exitCode = code;
        this.kill();
      },
      onSignal: (listener) => {
        this.#onSignal = listener;
      },
      peers: (own, events) => links.open(own, events, process),
      serveHttp: (_, handler) => {
        this.http = handler;
      },
      system: {
        now: () => process.now(),
        after: (ms, task) => process.after(ms, task),
        connect: () => this.application.connect(process),
        callRpc: (server, method, params) => this.#network.callRpc(process, { server, method, params }),
      },
    };
    runCometBft(["start", "--home", this.home], world);
  }

  terminate(): void {
    this.#onSignal("SIGTERM");
  }

  /** Ends the process at once. */
  kill(): void {
    if (this.#process) this.#process.isEnded = true;
    this.#process = undefined;
    this.http = undefined;
    this.#network.links.close(this.id);
  }

  async rpc(method: string, params: object = {}): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = JSON.parse((await this.http!({ method: "POST", path: "/", body })).body) as {
      readonly result?: unknown;
      readonly error?: { readonly data: string };
    };
    if (answer.error) throw new Error(answer.error.data);
    return answer.result;
  }
}
