/** `honest-client-process.ts PORT`: what `startHonestClient` starts. Writes the latencies in ms, as JSON, when its input ends. */
import { setTimeout } from "node:timers/promises";
import { call } from "./peers.ts";

const PAUSE_MS = 10;
const port = Number(process.argv[2]);
let isOver = false;
process.stdin.resume().once("end", () => {
  isOver = true;
});

// The first request of a process takes long, and is not the node's.
await call(port, "eth_blockNumber", []);
process.stdout.write('{"times":[');
let failures = 0;
for (let n = 0; !isOver; n++) {
  const begun = performance.now();
  await call(port, "eth_blockNumber", []).catch(() => failures++);
  process.stdout.write(`${n === 0 ? "" : ","}${performance.now() - begun}`);
  await setTimeout(PAUSE_MS);
}
process.stdout.write(`],"failures":${failures}}`);
