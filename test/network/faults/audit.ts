import type { Hex } from "viem";
import type { Network, NetworkNode } from "../network.ts";
import { VALIDATORS } from "./topology.ts";

/** What the chain of a run shows in the end. */
export type Audit = {
  readonly blocks: number;
  readonly acknowledged: number;
  /** Acknowledged, and in no block. */
  readonly lost: readonly Hex[];
  /** Numbers of blocks whose hashes differ between nodes. */
  readonly different: readonly number[];
  /** What shows that a validator signed twice. */
  readonly doubleSigns: readonly string[];
  /** Between the times of a block and the next one. Milliseconds. */
  readonly longestIntervalMs: number;
};

type BlockAnswer = {
  readonly block: {
    readonly header: { readonly time: string };
    readonly evidence: { readonly evidence: readonly unknown[] | null };
  };
};
type CommitAnswer = {
  readonly signed_header: {
    readonly commit: {
      readonly signatures: readonly { readonly block_id_flag: number; readonly validator_address: string }[];
    };
  };
};
/** Block id flag of a validator without a vote. */
const ABSENT = 1;

/** Reads every block of every node. */
export async function audit({ nodes }: Network, acknowledged: readonly Hex[]): Promise<Audit> {
  const [first] = nodes as readonly [NetworkNode];
  const last = Math.min(...(await Promise.all(nodes.map((node) => node.height()))));
  const included = new Set<Hex>();
  const different: number[] = [];
  const doubleSigns: string[] = [];
  let longestIntervalMs = 0;
  let beforeMs = Number.POSITIVE_INFINITY;
  for (let number = 1; number <= last; number++) {
    const blocks = await Promise.all(nodes.map(({ client }) => client.getBlock({ blockNumber: BigInt(number) })));
    if (new Set(blocks.map(({ hash }) => hash)).size !== 1) different.push(number);
    for (const hash of blocks[0]!.transactions) included.add(hash);
    const { block } = await first.engine<BlockAnswer>(`/block?height=${number}`);
    const timeMs = Date.parse(block.header.time);
    // The time of block 1 is that of the genesis.
    if (number > 2) longestIntervalMs = Math.max(longestIntervalMs, timeMs - beforeMs);
    beforeMs = timeMs;
    if ((block.evidence.evidence ?? []).length > 0) doubleSigns.push(`block ${number} has evidence`);
    if (!hasOneVoteEach(await first.engine<CommitAnswer>(`/commit?height=${number}`))) {
      doubleSigns.push(`the commit of block ${number} has two votes of a validator`);
    }
  }
  for (const node of nodes) {
    const reports = await misbehaviorOf(node);
    if (reports > 0) doubleSigns.push(`${node.home} counts ${reports} proofs of misbehaviour`);
  }
  const lost = acknowledged.filter((hash) => !included.has(hash));
  return { blocks: last, acknowledged: acknowledged.length, lost, different, doubleSigns, longestIntervalMs };
}

function hasOneVoteEach({ signed_header }: CommitAnswer): boolean {
  const { signatures } = signed_header.commit;
  const voters = signatures.flatMap(({ block_id_flag, validator_address }) =>
    block_id_flag === ABSENT ? [] : [validator_address],
  );
  return signatures.length === VALIDATORS && new Set(voters).size === voters.length;
}

/** `evmint_misbehavior_total` of all kinds, since the start of the node. */
async function misbehaviorOf(node: NetworkNode): Promise<number> {
  const text = await node.metrics();
  if (!text.includes("# HELP evmint_misbehavior_total ")) throw new Error("there is no evmint_misbehavior_total");
  const values = [...text.matchAll(/^evmint_misbehavior_total(?:\{.*\})? (\S+)$/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
