import { startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const GAS = 30_000_000;
const CODE_ADDRESS = `0x${"c0de".repeat(10)}`;
/** Memory of 100,000 bytes, then JUMPDEST PUSH2 7 JUMP until the gas is used up. */
const LOOP = "0x600162018680535b61000756";

/**
 * Resident memory of a node that traces a loop of 30 million gas, each step with its whole memory, again and again.
 *
 *     npm run bench -- trace-memory [REQUESTS]
 */
export async function run([requestsText = "200"]: readonly string[]): Promise<void> {
  const requests = Number(requestsText);
  const node = await startEvmint();
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "debug_traceCall",
    params: [
      { to: CODE_ADDRESS, gas: `0x${GAS.toString(16)}` },
      "latest",
      {
        enableMemory: true,
        timeout: "60s",
        stateOverrides: { [CODE_ADDRESS]: { code: LOOP } },
      },
    ],
  });
  let peakBytes = 0;
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, node.residentBytes());
  }, 20);
  const idle = node.residentBytes();
  const after: number[] = [];
  const answers = new Map<string, number>();
  try {
    for (let i = 0; i < requests; i++) {
      const response = await fetch(`http://127.0.0.1:${node.port}`, {
        method: "POST",
        headers: { "content-type": "application/json", connection: "close" },
        body,
      });
      let bytes = 0;
      let first = "";
      for await (const chunk of response.body!) {
        if (bytes === 0) first = Buffer.from(chunk).toString("latin1", 0, 120);
        bytes += chunk.length;
      }
      const answer = bytes > 1000 ? "a trace" : first;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      after.push(node.residentBytes());
    }
  } finally {
    clearInterval(sampling);
    await node.stop();
  }
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  const part = Math.max(1, Math.floor(after.length / 10));
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  for (const [answer, count] of answers) console.log(`${count} × ${answer}`);
  const rows = [
    { what: "idle", MB: megabytes(idle) },
    { what: "peak", MB: megabytes(peakBytes) },
    { what: "after the first tenth", MB: megabytes(mean(after.slice(0, part))) },
    { what: "after the last tenth", MB: megabytes(mean(after.slice(-part))) },
  ];
  printTable(rows);
  writeResult("trace-memory", rows, { requests });
}
