import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { AskedNode } from "./ask.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { durationText } from "./node-checks.ts";
import { agreedAt, blockAt, type NodeView, type ScheduleView, viewNode } from "./node-view.ts";
import { type OwnChain, rulesOf, scheduleOfRules } from "./own-chain.ts";

/** This side of the comparison. */
export type Own = {
  readonly chain: OwnChain;
  /** With the validators' agreements applied. */
  readonly rules: ChainConfig;
  /** undefined while no node runs on the home: then the files are compared. */
  readonly node: { readonly asked: AskedNode; readonly view: NodeView } | undefined;
};

/** What consensus tolerates between two clocks that are both within a second of the time. */
const SKEW_MS_MAX = 2_000;
/** Blocks that two nodes may be apart while both follow. */
const BEHIND_MAX = 20;

/** Compares another node with this home. A node that cannot be asked is a warning: this home may be well. */
export async function peerFindings(own: Own, peer: AskedNode): Promise<Finding[]> {
  const subject = findingsOf("peer");
  try {
    const view = await viewNode(peer);
    const findings = [
      ...identityFindings(own, view, await agreedAt(peer, view.head.number)),
      ...(await blockFindings(own, view, peer)),
      ...versionFindings(own, view),
      ...clockFindings(peer),
    ];
    if (findings.some(({ level }) => level !== "ok")) return findings;
    const { number } = view.head;
    if (view.genesisHash === undefined || view.schedule === undefined) {
      if (own.node === undefined) {
        return [
          subject.warning(`${view.name} has pruned block 0: start the node of this home, or name a peer that has it`),
        ];
      }
      const text = `${view.name} ${view.clientVersion}, at block ${number}: the same newest block; it has pruned block 0`;
      return [...findings, subject.ok(text)];
    }
    return [
      ...findings,
      subject.ok(`${view.name} ${view.clientVersion}, at block ${number}: the same chain and rules`),
    ];
  } catch (error) {
    return [
      subject.warning(`${(error as Error).message}: check that it is a node and accepts requests from this machine`),
    ];
  }
}

/** @param agreed the validators' agreements up to the peer's head; undefined if the peer does not return them */
function identityFindings(
  { chain, rules, node }: Own,
  { name, chainId, genesisHash, schedule, head }: NodeView,
  agreed: ReadonlyMap<string, bigint> | undefined,
) {
  const { fault, ok } = findingsOf("peer");
  const advice = "it belongs to another network";
  if (chainId !== chain.config.chainId) {
    return [fault(`${name} has chain id ${chainId}, this home has ${chain.config.chainId}: ${advice}`)];
  }
  if (genesisHash !== undefined && genesisHash !== chain.genesisHash) {
    return [fault(`${name} has block 0 ${genesisHash}, this home has ${chain.genesisHash}: ${advice}`)];
  }
  if (schedule === undefined) return [];
  const ours = node?.view.schedule ?? scheduleOfRules(chain, rules, head.timestamp);
  if (ours?.forkId === schedule?.forkId) return [];
  // A home that stopped, or still fetches blocks, has not seen the newest votes.
  if (
    agreed !== undefined &&
    scheduleOfRules(chain, rulesOf(chain, agreed), head.timestamp)?.forkId === schedule?.forkId
  ) {
    return [ok(`${name} has ${scheduleText(schedule)}, decided by a vote after this home's newest block`)];
  }
  const change = "correct config/genesis.json on the wrong node, and restart it before the fork";
  return [fault(`${name} has another fork schedule, ${scheduleText(schedule)}; here ${scheduleText(ours)}: ${change}`)];
}

function scheduleText(schedule: ScheduleView | null): string {
  if (schedule === null) return "no fork by time";
  return `${schedule.forkId} with the last fork at ${schedule.lastTime}`;
}

/** The newest block that both have: equal hashes are equal blocks, states and agreements until there. */
async function blockFindings({ node }: Own, view: NodeView, peer: AskedNode): Promise<Finding[]> {
  if (node === undefined) return [];
  const [here, there] = [node.view.genesisHash, view.genesisHash];
  if (here !== undefined && there !== undefined && here !== there) return [];
  const { fault, warning } = findingsOf("peer");
  const behind = view.head.number - node.view.head.number;
  const number = Math.min(view.head.number, node.view.head.number);
  const [theirs, ours] = await Promise.all([blockAt(peer, number), blockAt(node.asked, number)]);
  if (theirs.hash !== ours.hash) {
    const advice = "one node executed under different rules: compare with a third node, and roll back the wrong one";
    return [fault(`${view.name} has block ${number} ${theirs.hash}, this node has ${ours.hash}: ${advice}`)];
  }
  const [agreedThere, agreedHere] = await Promise.all([agreedAt(peer, number), agreedAt(node.asked, number)]);
  const rule = agreedThere && agreedHere && differenceIn(agreedHere, agreedThere);
  if (rule !== undefined) {
    const [here, there] = [agreedHere!.get(rule) ?? "none", agreedThere!.get(rule) ?? "none"];
    return [
      fault(`${view.name} agreed on ${rule} ${there} at block ${number}, this node on ${here}: compare the versions`),
    ];
  }
  if (Math.abs(behind) <= BEHIND_MAX) return [];
  const who =
    behind > 0 ? `this node is ${behind} blocks behind ${view.name}` : `${view.name} is ${-behind} blocks behind`;
  return [warning(`${who}: /readyz of that node says why`)];
}

/** Name of a rule that differs. */
function differenceIn(ours: ReadonlyMap<string, bigint>, theirs: ReadonlyMap<string, bigint>): string | undefined {
  return [...new Set([...ours.keys(), ...theirs.keys()])].find((rule) => ours.get(rule) !== theirs.get(rule));
}

function versionFindings({ node }: Own, { name, clientVersion }: NodeView): Finding[] {
  const ours = node?.view.clientVersion;
  if (ours === undefined || releaseOf(ours) === releaseOf(clientVersion)) return [];
  return [findingsOf("peer").warning(`${name} runs ${clientVersion}, this node ${ours}: finish the upgrade`)];
}

/** Name and version of `Evmint/v0.1.0/linux-x64/node20.19.0`. */
function releaseOf(clientVersion: string): string {
  return clientVersion.split("/", 2).join("/");
}

function clockFindings({ name, clock }: AskedNode): Finding[] {
  const difference = clock();
  if (difference === undefined || Math.abs(difference.ms) <= SKEW_MS_MAX + difference.uncertaintyMs) return [];
  const text = `${durationText(Math.abs(difference.ms))} ${difference.ms > 0 ? "ahead of" : "behind"} this one`;
  return [findingsOf("clock").warning(`the clock of ${name} is ${text}: correct the wrong one (NTP)`)];
}
