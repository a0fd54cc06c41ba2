import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeIdOf } from "../../../src/consensus/cometbft/home/home.ts";
import { cometbftPath } from "../../../src/node/config/home.ts";
import { Network, type NetworkNode } from "../network.ts";

export const VALIDATORS = 4;
/** Validator 0 is connected to this node alone. */
export const SENTRY = VALIDATORS;
const FOLLOWERS = 2;
export const NODES = VALIDATORS + 1 + FOLLOWERS;
/** Five blocks are what a node may be behind and be ready: more than it takes to see that its head is old. */
const BLOCK_TIME = "1s";

type NetInfo = { readonly peers: readonly { readonly node_info: { readonly id: string } }[] };

/** Four validators, the first behind a sentry as docs/operations/network.md describes, and two followers; not started. */
export async function createNetwork(funded: readonly string[]): Promise<Network> {
  const network = await Network.create({
    validators: VALIDATORS,
    followers: NODES - VALIDATORS,
    blockTime: BLOCK_TIME,
    flags: ["--metrics.enable", "true"],
    funded,
  });
  await network.linkNodes((from, to) => (from === 0 ? to === SENTRY : to !== 0 || from === SENTRY));
  const [hidden, sentry] = [network.nodes[0]!, network.nodes[SENTRY]!];
  hidden.flags.push("--cometbft.pex", "false", "--cometbft.trusted-peers", idOf(sentry));
  sentry.flags.push("--cometbft.private-peers", idOf(hidden), "--cometbft.trusted-peers", idOf(hidden));
  for (const node of network.nodes) if (node !== hidden) node.flags.push("--cometbft.pex", "true");
  return network;
}

const idOf = ({ home }: NetworkNode): string => nodeIdOf(cometbftPath(home));

/** Asserts that only its sentry is connected to the first validator. */
export async function assertHidden({ nodes }: Network): Promise<void> {
  const hidden = idOf(nodes[0]!);
  for (const [index, node] of nodes.entries()) {
    if (index === SENTRY) continue;
    const { peers } = await node.engine<NetInfo>("/net_info");
    const ids = peers.map(({ node_info }) => node_info.id);
    if (index === 0) assert.deepEqual(ids, [idOf(nodes[SENTRY]!)]);
    else assert.ok(!ids.includes(hidden), `${nameOf(index)} is connected to the validator behind the sentry`);
  }
}

/** Address of a validator's key, as commits show it. */
export function validatorAddress({ home }: NetworkNode): string {
  const file = join(cometbftPath(home), "config/priv_validator_key.json");
  const { address } = JSON.parse(readFileSync(file, "utf8")) as { readonly address: string };
  return `0x${address.toLowerCase()}`;
}

export function nameOf(index: number): string {
  if (index === SENTRY) return "the sentry";
  return index < VALIDATORS ? `validator ${index}` : `follower ${index}`;
}
