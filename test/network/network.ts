import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage, type RequestOptions } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createPublicClient, createWalletClient, defineChain } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { engineRpcSocket, nodeIdOf } from "../../src/consensus/cometbft/home/home.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { overIpc } from "../support/clients.ts";
import { type Evmintd, runEvmintd, spawnEvmintd } from "../support/evmintd.ts";
import { patientHttp } from "../support/viem-clients.ts";
import { type HeldDirection, Links } from "./links.ts";

export const CHAIN_ID = 9000;
/** Added to every port, so that networks can run side by side on one machine. */
const PORT_OFFSET = Number(process.env.NETWORK_PORT_OFFSET ?? 0);
/** HTTP port of the first node. */
const HTTP_PORT = 19_545 + PORT_OFFSET;
/** Port for peers of the first node. */
export const P2P_PORT = 26_656 + PORT_OFFSET;
/** Port of the metrics of the first node. */
const METRICS_PORT = 6_060 + PORT_OFFSET;
const PORT_STEP = 10;
/** Ports of the proxies between nodes that can be parted. */
const LINK_PORT = 27_600 + PORT_OFFSET;
/** Ports of the proxies in front of nodes, which those dial that learn of a node from others. */
const DOOR_PORT = 27_800 + PORT_OFFSET;
/** Longer than a recovery takes on a machine that does other work too: times are asserted where they matter. */
const WAIT_MS = 300_000;

const chain = defineChain({
  id: CHAIN_ID,
  name: "network",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});
const account = privateKeyToAccount(DEV_KEYS[0]);

export type NetworkOptions = {
  readonly validators: number;
  readonly followers?: number;
  /** Of every node. */
  readonly flags?: readonly string[];
  readonly blockTime?: string;
  /** Accounts that own something. */
  readonly funded?: readonly string[];
  /** Arguments of Node.js for every node. */
  readonly nodeArgs?: readonly string[];
  /** Validators that sign twice are removed. */
  readonly jail?: boolean;
  /** Accounts without ether can send. */
  readonly freeGas?: boolean;
  /** Of the contract that says which accounts may send. */
  readonly permissionsOwner?: string;
  /** A genesis file instead of the built-in one with `CHAIN_ID`. */
  readonly genesis?: string;
};

export type NetworkNode = ReturnType<typeof createNode>;

/** Nodes of `evmintd testnet`, each in its own process. */
export class Network {
  readonly folder = mkdtempSync(join(tmpdir(), "evmint-network-"));
  readonly nodes: readonly NetworkNode[];
  readonly #joined: NetworkNode[] = [];
  readonly #links = new Links();
  #nonce = 0;
  /** Every hash that a node answered. */
  readonly hashes: `0x${string}`[] = [];

  private constructor({ validators, followers = 0, flags = [], nodeArgs = [] }: NetworkOptions) {
    this.nodes = Array.from({ length: validators + followers }, (_, index) =>
      createNode(
        join(this.folder, "net", `${index < validators ? "validator" : "node"}-${index}`),
        HTTP_PORT + PORT_STEP * index,
        [...flags],
        nodeArgs,
      ),
    );
  }

  /** A node in a new home, invited by the first one; not started. @param flags of the new node */
  async join(flags: readonly string[]): Promise<NetworkNode> {
    const [first] = this.nodes;
    const file = join(this.folder, "network.json");
    const home = join(this.folder, `joined-${this.#joined.length}`);
    const invited = await runEvmintd(["engine", "invite", "--home", first!.home]);
    writeFileSync(file, invited.stdout);
    const { code, stderr } = await runEvmintd(["init", "--home", home, "--join", file]);
    if (code !== 0) throw new Error(stderr);
    const step = PORT_STEP * (this.nodes.length + this.#joined.length);
    const at = (port: number) => `127.0.0.1:${port + step}`;
    const node = createNode(home, HTTP_PORT + step, [
      "--json-rpc.address",
      at(HTTP_PORT),
      "--json-rpc.ws-address",
      at(HTTP_PORT + 1),
      "--cometbft.p2p-address",
      at(P2P_PORT),
      "--cometbft.local-net",
      "true",
      ...flags,
    ]);
    this.#joined.push(node);
    return node;
  }

  /** @param flags of every node */
  static async start(validators: number, followers: number, flags: readonly string[] = []): Promise<Network> {
    const funded = [DEV_ADDRESSES[0]];
    const network = await Network.create({ validators, followers, flags, funded });
    for (const node of network.nodes) node.start();
    return network;
  }

  /** Homes of nodes that are not started. */
  static async create(options: NetworkOptions): Promise<Network> {
    const { validators, followers = 0, blockTime = "500ms" } = options;
    const network = new Network(options);
    const { code, stderr } = await runEvmintd([
      "testnet",
      "--output",
      join(network.folder, "net"),
      "--validators",
      String(validators),
      "--full-nodes",
      String(followers),
      "--block-time",
      blockTime,
      "--http-port",
      String(HTTP_PORT - PORT_OFFSET),
      "--port-offset",
      String(PORT_OFFSET),
      ...(options.genesis === undefined ? ["--chain-id", String(CHAIN_ID)] : ["--genesis", options.genesis]),
      ...(options.jail ? ["--jail"] : []),
      ...(options.freeGas ? ["--free-gas"] : []),
      ...(options.permissionsOwner === undefined ? [] : ["--account-permissions", options.permissionsOwner]),
      ...(options.funded ?? []).flatMap((address) => ["--fund", address]),
    ]);
    if (code !== 0) throw new Error(stderr);
    return network;
  }

  /**
   * Makes nodes dial each other through proxies, for `cut` and `hold`; before they are started. A node says of itself that it is to be dialed through
   * one as well.
   * @param dials whether node `from` has node `to` among its persistent peers
   */
  async linkNodes(dials: (from: number, to: number) => boolean = () => true): Promise<void> {
    for (const [from, node] of this.nodes.entries()) {
      const peers: string[] = [];
      for (const [to, { home }] of this.nodes.entries()) {
        if (to === from || !dials(from, to)) continue;
        const port = LINK_PORT + PORT_STEP * from + to;
        await this.#links.open(from, to, port, P2P_PORT + PORT_STEP * to);
        peers.push(`${nodeIdOf(cometbftPath(home))}@127.0.0.1:${port}`);
      }
      const door = DOOR_PORT + from;
      await this.#links.open(undefined, from, door, P2P_PORT + PORT_STEP * from);
      node.flags.push("--cometbft.persistent-peers", peers.join());
      node.flags.push("--cometbft.external-address", `127.0.0.1:${door}`);
    }
  }

  /** Parts a node from all others until the returned function is called. */
  cut(node: NetworkNode): () => void {
    const index = this.nodes.indexOf(node);
    this.#links.cut(index);
    return () => this.#links.mend(index);
  }

  /** Of connections between linked nodes that begin from now on. */
  delay(oneWayMs: number, loss = 0): void {
    this.#links.quality = { delayMs: oneWayMs, loss };
  }

  /** Parts linked nodes from all others until the returned function is called. */
  part(group: readonly NetworkNode[]): () => void {
    this.#links.part(group.map((node) => this.nodes.indexOf(node)));
    return () => {
      for (const index of this.nodes.keys()) this.#links.mend(index);
    };
  }

  /** Lets nothing through of what a node sends, or is sent, until the returned function is called; its connections stay. */
  hold(node: NetworkNode, direction: HeldDirection): () => void {
    const index = this.nodes.indexOf(node);
    this.#links.hold(index, direction);
    return () => this.#links.mend(index);
  }

  /** Sends one transfer through `node`. */
  async send(node: NetworkNode): Promise<void> {
    const wallet = createWalletClient({ account, chain, transport: patientHttp(node.url) });
    const hash = await wallet.sendTransaction({
      to: DEV_ADDRESSES[1],
      value: 1n,
      gas: 21_000n,
      nonce: this.#nonce,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    this.#nonce++;
    this.hashes.push(hash);
  }

  async stop(): Promise<void> {
    // A node that logged an error rejects, while others still write into their homes.
    const stopped = await Promise.allSettled([...this.nodes, ...this.#joined].map((node) => node.stop()));
    this.#links.close();
    rmSync(this.folder, { recursive: true, force: true });
    for (const result of stopped) if (result.status === "rejected") throw result.reason;
  }
}

type BlockAnswer = {
  readonly block_id: { readonly hash: string };
  readonly block: { readonly header: { readonly time: string } };
};
type CommitAnswer = {
  readonly signed_header: {
    readonly commit: {
      readonly signatures: readonly {
        readonly block_id_flag: number;
        readonly validator_address: string;
      }[];
    };
  };
};
/** Block id flag of a signature for the block. */
const SIGNED = 2;

function createNode(home: string, port: number, flags: string[], nodeArgs: readonly string[] = []) {
  const url = `http://127.0.0.1:${port}`;
  const client = createPublicClient({ chain, transport: patientHttp(url, { retryCount: 0 }) });
  const metricsPort = METRICS_PORT + port - HTTP_PORT;
  let running: Evmintd | undefined;
  /** Logs of the processes before. */
  const earlierLogs: string[] = [];
  const allowed: RegExp[] = [];
  const spawned = (node: Evmintd) => {
    if (running !== undefined) earlierLogs.push(running.output.stderr);
    running = node;
    node.allowErrors(...allowed);
  };
  return {
    home,
    url,
    port,
    client,
    /** Of its next start. */
    flags,
    /** CometBFT's own RPC, as another node on this machine names it for state sync. */
    engineRpc: `unix://${engineRpcSocket(cometbftPath(home))}`,
    /** The result of a call over the socket of its user, which needs no token. */
    async request(method: string, ...params: readonly unknown[]): Promise<unknown> {
      const { result, error } = await overIpc(join(home, "evmint.ipc"), method, params);
      if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result;
    },
    /** Height and CometBFT's hash of a block to trust. */
    async trusted(height: number): Promise<{ readonly height: number; readonly hash: string }> {
      const { block_id } = await engineAnswer<BlockAnswer>(home, `/block?height=${height}`);
      return { height, hash: block_id.hash };
    },
    /** What CometBFT's own RPC answers. */
    engine: <T>(path: string) => engineAnswer<T>(home, path),
    /** Its metrics, in the text format of Prometheus. */
    async metrics(): Promise<string> {
      // `fetch` refuses some ports.
      return text(await response({ host: "127.0.0.1", port: metricsPort, path: "/metrics" }));
    },
    /** Why it is not ready; undefined where it is. */
    async problem(): Promise<string | undefined> {
      const answer = await fetch(`${url}/readyz`);
      return ((await answer.json()) as { readonly reason?: string }).reason;
    },
    /** Its newest block. */
    height: async () => Number(await client.getBlockNumber({ cacheTime: 0 })),
    /** CometBFT's time of a block, in Unix milliseconds. */
    async engineTime(height: number): Promise<number> {
      const { block } = await engineAnswer<BlockAnswer>(home, `/block?height=${height}`);
      return Date.parse(block.header.time);
    },
    /** The validators whose signatures are in the commit of block `height`, as CometBFT's RPC shows it. */
    async committers(height: number): Promise<ReadonlySet<string>> {
      const answer = await engineAnswer<CommitAnswer>(home, `/commit?height=${height}`);
      return new Set(
        answer.signed_header.commit.signatures
          .filter(({ block_id_flag }) => block_id_flag === SIGNED)
          .map(({ validator_address }) => `0x${validator_address.toLowerCase()}`),
      );
    },
    start() {
      spawned(spawnEvmintd(["start", "--home", home, ...flags], nodeArgs));
    },
    /** Starts it as the program `name` of this folder instead of evmintd. */
    startAs(name: "older-program.ts" | "other-rules-program.ts") {
      const entry = fileURLToPath(new URL(name, import.meta.url));
      const args = ["--import", "tsx", ...nodeArgs];
      spawned(spawnEvmintd(["start", "--home", home, ...flags], args, process.execPath, entry));
    },
    /** Declares lines of level error that its processes may log. */
    allowErrors(...patterns: readonly RegExp[]) {
      allowed.push(...patterns);
      running?.allowErrors(...patterns);
    },
    async kill() {
      running?.child.kill("SIGKILL");
      await running?.exited;
    },
    signal(signal: NodeJS.Signals) {
      running?.child.kill(signal);
    },
    /** Ends CometBFT alone. */
    killEngine() {
      for (const pid of childrenOf(running)) process.kill(pid, "SIGKILL");
    },
    /** Ends the node and CometBFT. */
    async killBoth() {
      const engines = childrenOf(running);
      running?.child.kill("SIGKILL");
      for (const pid of engines) process.kill(pid, "SIGKILL");
      await running?.exited;
    },
    async stop() {
      running?.child.kill("SIGTERM");
      await running?.exited;
    },
    /** The node and CometBFT. */
    pids: () => [running!.child.pid!, ...childrenOf(running)],
    /** Settles when the node has ended by itself. */
    ended: async () => void (await running?.exited),
    log: () => running?.output.stderr ?? "",
    /** The logs of all its processes. */
    logs: () => [...earlierLogs, running?.output.stderr ?? ""],
  };
}

/** What CometBFT's own RPC answers. */
async function engineAnswer<T>(home: string, path: string): Promise<T> {
  const socketPath = engineRpcSocket(cometbftPath(home));
  return ((await json(await response({ socketPath, path }))) as { readonly result: T }).result;
}

function response(request: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(request, resolve).on("error", reject);
  });
}

/** CometBFT is the one child process of a node. */
function childrenOf(node: Evmintd | undefined): readonly number[] {
  const pid = node?.child.pid;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

/** Waits until `condition` holds; a node that does not answer counts as no. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  while (performance.now() - start < WAIT_MS) {
    if (await condition().catch(() => false)) return performance.now() - start;
    await setTimeout(100);
  }
  throw new Error(`not within ${WAIT_MS / 1000} s: ${what}`);
}

/** Asserts that `nodes` have the same blocks, up to the newest that all have. */
export async function assertSameChain(nodes: readonly NetworkNode[]): Promise<void> {
  const last = Math.min(...(await Promise.all(nodes.map((node) => node.height()))));
  for (let number = 0; number <= last; number++) {
    const hashes = await Promise.all(
      nodes.map(async ({ client }) => (await client.getBlock({ blockNumber: BigInt(number) })).hash),
    );
    assert.equal(new Set(hashes).size, 1, `block ${number}`);
  }
}

/** True if CometBFT can be started and these tests were requested. */
export function whyLeftOut(): string | false {
  if (process.env["TEST_COMETBFT"] !== "1") return "left out: npm run test:cometbft runs it";
  const { error } = spawnSync("cometbft", ["version"]);
  return error === undefined ? false : "left out: no cometbft on PATH";
}
