import { Agent, request } from "node:http";
import { HOSTILE_EXPRESSIONS } from "../../test/support/evm/tracing/hostile-expressions.ts";
import { type Peer, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const BUDGET_MS = 500;
/** PUSH0: one step. */
const CODE_AT = `0x${"aa".repeat(20)}`;
const CODE = { [CODE_AT]: { code: "0x5f" } };

/** Where the expression is in a tracer. */
const PLACES: Readonly<Record<string, (expression: string) => string>> = {
  step: (expression) =>
    `{ step: function () { return ${expression}; }, fault: function () {}, result: function () { return 1; } }`,
  result: (expression) =>
    `{ step: function () {}, fault: function () {}, result: function () { return ${expression}; } }`,
};

/**
 * Tracers of strangers that never end or take all memory: how long after the budget each answer comes, and how long `eth_blockNumber` takes
 * on another connection meanwhile.
 *
 *     npm run bench -- hostile-scripts [ROUNDS]
 */
export async function run([roundsText = "2"]: readonly string[]): Promise<void> {
  const rounds = Number(roundsText);
  const node = await startEvmint({ extraArguments: ["--json-rpc.api", "eth,debug"] });
  const [tracing, probing] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
  try {
    // The execution thread and the engine of scripts start with the first trace.
    const harmless = PLACES["result"]!("1");
    for (let i = 0; i < 20; i++) await trace(node, harmless, tracing);
    const rows = [];
    for (const [name, expression] of HOSTILE_EXPRESSIONS) {
      for (const [place, scriptOf] of Object.entries(PLACES)) {
        rows.push(await measure(`${name}, ${place}`, scriptOf(expression), rounds));
      }
    }
    const all = {
      script: "all",
      "answer, ms over the budget": Math.max(...rows.map((row) => row["answer, ms over the budget"])),
      "eth_blockNumber p99 ms": Math.max(...rows.map((row) => row["eth_blockNumber p99 ms"])),
      "eth_blockNumber max ms": Math.max(...rows.map((row) => row["eth_blockNumber max ms"])),
    };
    printTable([...rows, all]);
    writeResult("hostile-scripts", [...rows, all], { rounds, budgetMs: BUDGET_MS });
  } finally {
    tracing.destroy();
    probing.destroy();
    await node.stop();
  }

  async function measure(script: string, tracer: string, times: number) {
    const over: number[] = [];
    const latencies: number[] = [];
    for (let i = 0; i < times; i++) {
      let isOver = false;
      const probe = (async () => {
        while (!isOver) {
          const begin = performance.now();
          await post(node, "eth_blockNumber", [], probing);
          latencies.push(performance.now() - begin);
        }
      })();
      const begin = performance.now();
      const { error } = await trace(node, tracer, tracing);
      over.push(performance.now() - begin - BUDGET_MS);
      isOver = true;
      await probe;
      if (error?.code !== -32000) throw new Error(`${script}: ${JSON.stringify(error)}`);
    }
    latencies.sort((a, b) => a - b);
    return {
      script,
      "answer, ms over the budget": Math.max(0, ...over),
      "eth_blockNumber p99 ms": latencies[Math.floor(latencies.length * 0.99)]!,
      "eth_blockNumber max ms": latencies.at(-1)!,
    };
  }
}

type Answer = { readonly error?: { readonly code: number; readonly message: string } };

function trace(node: Peer, tracer: string, agent: Agent): Promise<Answer> {
  const config = { tracer, timeout: `${BUDGET_MS}ms`, stateOverrides: CODE };
  return post(node, "debug_traceCall", [{ to: CODE_AT, gas: "0xfffff" }, "latest", config], agent);
}

function post(node: Peer, method: string, params: readonly unknown[], agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { agent, method: "POST", headers: { "content-type": "application/json" } };
    const sent = request(`http://127.0.0.1:${node.port}`, options, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(JSON.parse(text) as Answer));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  });
}
