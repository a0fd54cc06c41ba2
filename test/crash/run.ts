/**
 * Kills a store again and again: node --import tsx test/crash/run.ts [KILLS] [SEED] [lmdb|memory|retention]
 */
import { crashStore } from "./crash.ts";

const kills = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const kind = (["memory", "retention"] as const).find((name) => name === process.argv[4]) ?? "lmdb";
console.log(`seed ${seed}`);
// Several short chains: opening reads the chain from its beginning to check it.
const KILLS_OF_ONE_CHAIN = 40;
let blocks = 0;
for (let done = 0; done < kills; done += KILLS_OF_ONE_CHAIN) {
  const report = await crashStore(Math.min(KILLS_OF_ONE_CHAIN, kills - done), seed + done, kind);
  blocks += report.blocks;
  console.log(`${done + report.kills} kills, ${blocks} blocks: nothing lost`);
}
