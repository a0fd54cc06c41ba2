import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createPublicClient, createWalletClient, defineChain, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { overIpc } from "../support/clients.ts";
import { type Evmintd, runEvmintd, spawnEvmintd } from "../support/evmintd.ts";

const CHAIN_ID = 9000;
/** Ports of the nodes begin here; CometBFT's own are its usual ones. */
const HTTP_PORT = 19_545;
/** CometBFT's usual RPC port. */
const ENGINE_RPC_PORT = 26_657;
const PORT_STEP = 10;
const WAIT_MS = 60_000;

const chain = defineChain({
  id: CHAIN_ID,
  name: "network",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});
const account = privateKeyToAccount(DEV_KEYS[0]);

export type NetworkNode = ReturnType<typeof createNode>;

/** Nodes of `evmintd testnet` in processes of their own. */
export class Network {
  readonly folder = mkdtempSync(join(tmpdir(), "evmint-network-"));
  readonly nodes: readonly NetworkNode[];
  #nonce = 0;
  /** Every hash that a node answered. */
  readonly hashes: `0x${string}`[] = [];

  private constructor(validators: number, followers: number) {
    this.nodes = Array.from({ length: validators + followers }, (_, index) =>
      createNode(
        join(this.folder, "net", `${index < validators ? "validator" : "node"}-${index}`),
        HTTP_PORT + PORT_STEP * index,
        ENGINE_RPC_PORT + PORT_STEP * index,
      ),
    );
  }

  static async start(validators: number, followers: number): Promise<Network> {
    const network = new Network(validators, followers);
    const { code, stderr } = await runEvmintd([
      ...["testnet", "--output", join(network.folder, "net")],
      ...["--validators", String(validators), "--full-nodes", String(followers)],
      ...["--block-time", "500ms", "--http-port", String(HTTP_PORT)],
      ...["--chain-id", String(CHAIN_ID), "--fund", DEV_ADDRESSES[0]],
    ]);
    if (code !== 0) throw new Error(stderr);
    for (const node of network.nodes) node.start();
    return network;
  }

  /** Sends one transfer through `node`. */
  async send(node: NetworkNode): Promise<void> {
    const wallet = createWalletClient({ account, chain, transport: http(node.url) });
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
    await Promise.all(this.nodes.map((node) => node.stop()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type CommitAnswer = {
  readonly result: {
    readonly signed_header: {
      readonly commit: {
        readonly signatures: readonly {
          readonly block_id_flag: number;
          readonly validator_address: string;
        }[];
      };
    };
  };
};
/** Block id flag of a signature for the block. */
const SIGNED = 2;

function createNode(home: string, port: number, rpcPort: number) {
  const url = `http://127.0.0.1:${port}`;
  const client = createPublicClient({ chain, transport: http(url, { retryCount: 0 }) });
  let running: Evmintd | undefined;
  return {
    home,
    url,
    client,
    /** The result of a call over the socket of its user, which needs no token. */
    async request(method: string, ...params: readonly unknown[]): Promise<unknown> {
      const { result, error } = await overIpc(join(home, "evmint.ipc"), method, params);
      if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result;
    },
    /** The validators whose signatures are in the commit of block `height`, as CometBFT's RPC shows it. */
    async committers(height: number): Promise<ReadonlySet<string>> {
      const response = await fetch(`http://127.0.0.1:${rpcPort}/commit?height=${height}`);
      const { result } = (await response.json()) as CommitAnswer;
      return new Set(
        result.signed_header.commit.signatures
          .filter(({ block_id_flag }) => block_id_flag === SIGNED)
          .map(({ validator_address }) => `0x${validator_address.toLowerCase()}`),
      );
    },
    start() {
      running = spawnEvmintd(["start", "--home", home]);
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
    log: () => running?.output.stdout ?? "",
  };
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

/** True where CometBFT can be started, and these tests were asked for. */
export function whyLeftOut(): string | false {
  if (process.env["EVMINT_COMETBFT"] !== "1") return "left out: npm run test:cometbft runs it";
  const { error } = spawnSync("cometbft", ["version"]);
  return error === undefined ? false : "left out: no cometbft on PATH";
}
