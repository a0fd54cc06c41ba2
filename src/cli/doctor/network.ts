import { NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { engineRpcSocket } from "../../consensus/cometbft/home/home.ts";
import { COMETBFT_CORE_VERSION } from "../../consensus/cometbft/process/engine-version.ts";
import { engineBlockOf } from "../../consensus/cometbft/rpc/block.ts";
import { callEngine, createEngineRpc } from "../../consensus/cometbft/rpc/client.ts";
import type { Config } from "../../node/config/config.ts";
import { cometbftPath } from "../../node/config/home.ts";
import type { CliContext } from "../context.ts";
import { type AskedNode, askOwnNode, askPeer } from "./ask.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { growthFindings } from "./growth.ts";
import { ageFinding, enginePeersFindings, ownNodeFindings } from "./node-checks.ts";
import { agreedAt, blockAt, type NodeView, viewNode } from "./node-view.ts";
import { engineGenesisFinding, namedForksFinding, type OwnChain, readOwnChain, rulesOf } from "./own-chain.ts";
import { type Own, peerFindings } from "./peer-checks.ts";
import type { System } from "./system.ts";

/** Of other nodes, over HTTP. */
export type NetworkOptions = { readonly peers: readonly string[] };

/** CometBFT runs on this machine; its newest block is a few megabytes at most. */
const ENGINE_LIMITS = { timeoutMs: 3_000, bytesMax: 64 << 20 };

/** What the files of the home, the node that runs on it, its CometBFT and other nodes say of one another. @throws UsageError for invalid URLs */
export async function networkFindings(
  config: Config,
  system: Pick<System, "fileSystem">,
  { now, timers }: Pick<CliContext, "now" | "timers">,
  { peers }: NetworkOptions,
): Promise<Finding[]> {
  const asked = peers.map((url) => askPeer(url));
  let chain: OwnChain | undefined;
  try {
    chain = readOwnChain(config);
  } catch (error) {
    const text = `config/genesis.json: ${(error as Error).message}; copy it from another node`;
    return [findingsOf("genesis").fault(text)];
  }
  // The check of the home has said that.
  if (chain === undefined) return [];
  const isNetwork = config.consensus.engine === "cometbft";
  const node = await askOwnNode(config, timers);
  try {
    const own = await openOwn(chain, node);
    const view = own.node?.view;
    const oldest = node && view ? await oldestOf(node, view) : undefined;
    return [
      ...(isNetwork ? engineGenesisFinding(config, chain) : []),
      ...(view ? ownNodeFindings(chain, own.rules, view) : [node ? NO_ANSWER : NOT_RUNNING]),
      ...(view ? [ageFinding(config, own.rules, view.head, now())] : []),
      ...(view && isNetwork ? await engineFindings(config, chain, own.rules, timers) : []),
      ...(await growthFindings(config, system, { nowMs: now(), beganMs: oldest })),
      ...(await Promise.all(asked.map((peer) => peerFindings(own, peer)))).flat(),
    ];
  } finally {
    node?.close();
  }
}

const NOT_RUNNING = findingsOf("node").ok(
  "no node is running on this home, so its blocks, peers and forks were not checked",
);
const NO_ANSWER = findingsOf("node").warning(
  "the node does not answer on its socket: it is starting or stopping; otherwise see its log",
);

/** Without a node where none answers as a node does: one that starts or stops. */
async function openOwn(chain: OwnChain, asked: AskedNode | undefined): Promise<Own> {
  const files = { chain, rules: chain.config, node: undefined };
  if (asked === undefined) return files;
  try {
    const view = await viewNode(asked);
    const agreed = await agreedAt(asked, view.head.number);
    return { chain, rules: rulesOf(chain, agreed), node: { asked, view } };
  } catch (error) {
    if (error instanceof NodeError) return files;
    throw error;
  }
}

/** Unix milliseconds of the oldest block that is stored; undefined where that is block 0, whose time the genesis file says, of years ago perhaps. */
async function oldestOf(node: AskedNode, { head }: NodeView): Promise<number | undefined> {
  const capabilities = await node.ask("eth_capabilities");
  const { blocks } = (capabilities ?? {}) as { readonly blocks?: { readonly oldestBlock?: unknown } };
  const oldest = Math.max(1, Number(blocks?.oldestBlock));
  if (!Number.isSafeInteger(oldest) || oldest > head.number) return undefined;
  return (await blockAt(node, oldest)).timestamp * 1_000;
}

/** Of CometBFT under the running node. */
async function engineFindings(
  config: Config,
  chain: OwnChain,
  rules: ChainConfig,
  timers: CliContext["timers"],
): Promise<Finding[]> {
  try {
    const socketPath = engineRpcSocket(cometbftPath(config.home));
    const rpc = createEngineRpc(socketPath, timers);
    const [status, peers, answer] = await Promise.all([
      rpc.status(),
      rpc.peers(),
      callEngine({ socketPath }, { method: "block", params: {} }, ENGINE_LIMITS, timers),
    ]);
    const named = status.latestHeight === 0 ? [] : [namedForksFinding(chain, rules, engineBlockOf(answer))];
    return [...enginePeersFindings(status, peers, COMETBFT_CORE_VERSION), ...named];
  } catch (error) {
    const text = `${(error as Error).message}: the node's log and /readyz give the reason`;
    return [findingsOf("engine").fault(text)];
  }
}
