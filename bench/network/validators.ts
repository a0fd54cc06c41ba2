import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Network, type NetworkNode } from "../../test/network/network.ts";
import { printTable, writeResult } from "../support/report.ts";
import { genesisText, senderKeys, signAll } from "../throughput/workload.ts";
import { finalityTimes, intervalsOf, reaches } from "./finality.ts";

/** On a machine of two cores, twenty nodes and engines need the time. */
const BLOCK_TIME = "5s";
const RATE = 5;
const TIMED = 150;
/** Blocks over which the interval is measured. */
const BLOCKS = 20;
const SAMPLE_MS = 100;

/**
 * `npm run bench -- validators [COUNT]`: COUNT (20) validators with a block each 5 seconds: time between blocks, and from sending a transfer to its block. Then as many
 * are killed as the others can do without, and the others are asked each 100 ms whether they are ready.
 */
export async function run([count = "20"]: readonly string[]): Promise<void> {
  const validators = Number(count);
  const folder = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const genesis = join(folder, "genesis.json");
  const keys = senderKeys(100);
  writeFileSync(genesis, genesisText(keys));
  const network = await Network.create({ validators, genesis, blockTime: BLOCK_TIME });
  try {
    for (const node of network.nodes) node.start();
    for (const node of network.nodes) await reaches(node, 5);
    const transfers = signAll("transfer", keys, TIMED);
    const [first] = network.nodes;
    const toTheBlock = await finalityTimes(first!, transfers, RATE);
    await advance(first!, BLOCKS);
    const all = {
      down: 0,
      ...(await intervalsOf(first!, BLOCKS)),
      "to the block p50 ms": toTheBlock.p50,
      "to the block p99 ms": toTheBlock.p99,
    };
    console.error(all);
    const down = Math.ceil(validators / 3) - 1;
    for (const node of network.nodes.slice(-down)) await node.killBoth();
    const fewer = { down, ...(await readinessOf(network.nodes.slice(0, -down))) };
    printTable([all]);
    printTable([fewer]);
    writeResult("validators", [all, fewer], { validators, blockTime: BLOCK_TIME });
  } finally {
    await network.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** While the chain grows by `BLOCKS` blocks. */
async function readinessOf(nodes: readonly NetworkNode[]): Promise<Readonly<Record<string, number | string>>> {
  let samples = 0;
  const reasons: string[] = [];
  const stop = new AbortController();
  const sampled = Promise.all(
    nodes.map(async (node) => {
      while (!stop.signal.aborted) {
        const problem = await node.problem();
        samples++;
        if (problem !== undefined) reasons.push(problem);
        await setTimeout(SAMPLE_MS);
      }
    }),
  );
  await advance(nodes[0]!, BLOCKS);
  stop.abort();
  await sampled;
  return {
    ...(await intervalsOf(nodes[0]!, BLOCKS)),
    samples,
    "not ready": reasons.length,
    reasons: [...new Set(reasons)].join("; "),
  };
}

async function advance(node: NetworkNode, blocks: number): Promise<void> {
  await reaches(node, (await node.height()) + blocks);
}
