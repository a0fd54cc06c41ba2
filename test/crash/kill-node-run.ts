/** `node --import tsx test/crash/kill-node-run.ts [COUNT]`: kills a node under load COUNT times (200) and prints what was seen. */
import { killNode } from "./kill-node.ts";

console.log(await killNode(Number(process.argv[2] ?? 200)));
