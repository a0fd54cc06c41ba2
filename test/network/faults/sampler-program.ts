/** Asks every node's `/readyz` each `intervalMs` (`sampler.ts`), in a separate process, so that other work does not delay it. */
import { Agent, get } from "node:http";
import type { SamplerMessage, SamplerOptions } from "./sampler.ts";
import { type Readiness, Samples } from "./samples.ts";

/** Questions to one node that have no answer yet: one that is stopped answers them all when it goes on. */
const OPEN_MAX = 20;

const { urls, validators, intervalMs } = JSON.parse(process.argv[2]!) as SamplerOptions;
const samples = new Samples(validators, intervalMs);
const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX });
const open = urls.map(() => 0);
const tell = (message: SamplerMessage) => void process.send!(message);

const timer = setInterval(() => {
  samples.tick(performance.now());
  for (const node of urls.keys()) if (open[node]! < OPEN_MAX) void sample(node);
}, intervalMs);

process.on("message", (message: "stop" | readonly number[]) => {
  if (message !== "stop") {
    samples.away = message;
    return;
  }
  clearInterval(timer);
  tell({ kind: "counts", counts: samples.counts });
  process.disconnect();
  // A question can stay open while its node is stopped.
  process.exit(0);
});
process.on("disconnect", () => process.exit(0));

async function sample(node: number): Promise<void> {
  open[node]!++;
  const highest = samples.begin();
  const answer = await ask(urls[node]!);
  open[node]!--;
  if (answer === undefined) {
    samples.unanswered();
    return;
  }
  const late = samples.answered(node, highest, answer);
  if (late !== undefined) tell({ kind: "late", late });
  const block = samples.majorityBlock(performance.now());
  if (block !== undefined) tell({ kind: "block", block });
}

/** undefined if there is no complete answer */
function ask(url: string): Promise<Readiness | undefined> {
  return new Promise((resolve) => {
    const request = get(`${url}/readyz`, { agent }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("error", () => resolve(undefined));
      response.on("end", () => {
        const { head, reason } = JSON.parse(body) as { readonly head: number; readonly reason?: string };
        resolve({ ready: response.statusCode === 200, head, reason });
      });
    });
    request.on("error", () => resolve(undefined));
  });
}
