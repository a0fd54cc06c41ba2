import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { EnginePeer, EngineStatus } from "../../consensus/cometbft/rpc/answers.ts";
import type { Config } from "../../node/config/config.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { BlockView, NodeView } from "./node-view.ts";
import { type OwnChain, scheduleOfRules } from "./own-chain.ts";

/** As the alert `HeadStands`: a network that was restarted needs less. */
const BLOCK_TIMES_MAX = 20;
const QUIET_MS_MIN = 60_000;
/** As the error in the log: a validator's votes count with its clock. */
const SKEW_MS_MAX = 2_000;
/** Monikers on one line. */
const NAMES_MAX = 10;

/** Whether the node that runs on the home has the chain of its files. */
export function ownNodeFindings(own: OwnChain, rules: ChainConfig, node: NodeView): Finding[] {
  const version = findingsOf("node").ok(`${node.clientVersion} is running at block ${node.head.number}`);
  const { ok, fault } = findingsOf("genesis");
  if (node.genesisHash !== undefined && node.genesisHash !== own.genesisHash) {
    const advice = "the file has changed since the node started; copy it from another node";
    return [version, fault(`the node's block 0 is ${node.genesisHash}, the file's is ${own.genesisHash}: ${advice}`)];
  }
  if (node.genesisHash === undefined || node.schedule === undefined) return [version];
  const schedule = scheduleOfRules(own, rules, node.head.timestamp);
  if (schedule?.forkId !== node.schedule?.forkId) {
    const advice = "restart the node, or restore the file";
    const text = `the fork times in config/genesis.json differ from the running node's: ${advice}`;
    return [version, findingsOf("forks").fault(text)];
  }
  return [version, ok("the node has block 0 and the fork schedule of config/genesis.json")];
}

/** How old the newest block is, where blocks come by time. */
export function ageFinding(
  { consensus }: Pick<Config, "consensus">,
  { blockPeriodMs }: Pick<ChainConfig, "blockPeriodMs">,
  { number, timestamp }: BlockView,
  nowMs: number,
): Finding {
  const { ok, fault } = findingsOf("head");
  const ageMs = nowMs - timestamp * 1_000;
  if (ageMs < -SKEW_MS_MAX) {
    const seconds = Math.round(-ageMs / 1_000);
    return findingsOf("clock").fault(`block ${number} is ${seconds} s ahead of this clock: correct the clock (NTP)`);
  }
  const text = `block ${number} is ${durationText(Math.max(0, ageMs))} old`;
  const { blockTime } = consensus;
  const periodMs =
    blockPeriodMs ?? (typeof blockTime === "object" ? (blockTime.emptyMs ?? blockTime.intervalMs) : undefined);
  if (periodMs === undefined || ageMs <= Math.max(QUIET_MS_MIN, BLOCK_TIMES_MAX * periodMs)) return ok(text);
  const advice = "/readyz gives the reason; compare with --peer, and check peers and clock";
  return fault(`${text}, but blocks are due every ${durationText(periodMs)}: ${advice}`);
}

/** Connections of CometBFT. What a peer says of itself is its own word. */
export function enginePeersFindings(
  status: EngineStatus,
  peers: readonly EnginePeer[],
  coreVersion: string,
): Finding[] {
  const { ok, warning } = findingsOf("peers");
  if (peers.length === 0) {
    const advice =
      "if the network has other nodes, check cometbft.persistent-peers, the firewall and cometbft.allowed-nodes-contract";
    return [warning(`no peer is connected: ${advice}`)];
  }
  if (status.isCatchingUp) return [warning("CometBFT is catching up with the network; wait")];
  const outbound = peers.filter(({ isOutbound }) => isOutbound).length;
  const names = peers.slice(0, NAMES_MAX).map(({ moniker, version }) => `${moniker} (CometBFT ${version})`);
  const more = peers.length > NAMES_MAX ? `, and ${peers.length - NAMES_MAX} more` : "";
  const others = peers.filter(({ version }) => version !== coreVersion);
  const found = ok(`${peers.length} connected, ${outbound} outbound: ${names.join(", ")}${more}`);
  if (others.length === 0) return [found];
  const text = `${others.length} run a CometBFT other than ${coreVersion}: install the version that evmintd needs on all nodes`;
  return [found, warning(text)];
}

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`;
  return `${Math.round(ms / 3_600_000)} hours`;
}
