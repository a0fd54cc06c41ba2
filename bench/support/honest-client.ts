import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Peer } from "./peers.ts";

const PROCESS = fileURLToPath(new URL("./honest-client-process.ts", import.meta.url));

export type Latencies = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Calls that were not answered; how long that took counts too. */
  readonly failures: number;
};

/**
 * A client in a process of its own, which what the load generator does cannot delay: it asks for `eth_blockNumber`, and again 10 ms after each answer,
 * until `stop`.
 */
export async function startHonestClient(peer: Pick<Peer, "port">): Promise<{ stop(): Promise<Latencies> }> {
  const child = spawn(process.execPath, ["--import", "tsx", PROCESS, String(peer.port)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text) => {
    output += text;
  });
  // Its first answer is there.
  await once(child.stdout, "data");
  return {
    async stop() {
      child.stdin.end();
      await once(child.stdout, "end");
      const { times, failures } = JSON.parse(output) as { times: number[]; failures: number };
      times.sort((a, b) => a - b);
      if (times.length === 0) throw new Error("the client got no answer");
      return {
        p50Ms: times[times.length >> 1]!,
        p99Ms: times[Math.floor(times.length * 0.99)]!,
        longestMs: times.at(-1)!,
        failures,
      };
    },
  };
}
