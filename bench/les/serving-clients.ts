import { Agent, request } from "node:http";
import { CONTRACT, loopCall } from "./loop-call.ts";

/* Clients of `light-serving`, in a process of their own: what they wait for is the node's work, not theirs. */

export type ClientsInput = {
  readonly url: string;
  readonly payerToken: string;
  /** Addresses of clients without balance; each has `CALLERS` calls under way. */
  readonly freeAddresses: number;
  readonly seconds: number;
};

export type ClientsOutput = {
  /** Milliseconds from the time a call of the paying client was due to its answer. */
  readonly payerMs: readonly number[];
  readonly payerFailed: number;
  readonly freeServed: number;
  readonly freeRejected: number;
};

const INTERVAL_MS = 20;
const CALLERS = 4;
/** A rejected client asks again after this time, whatever the answer says. */
const RETRY_MS = 20;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

type Line = { readonly agent: Agent; readonly localAddress: string; readonly token?: string };

/** The code of the answer's error; undefined: none. */
function call(url: string, line: Line, method: string, params: unknown[]): Promise<number | undefined> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(line.token && { authorization: `Bearer ${line.token}` }),
  };
  const { agent, localAddress } = line;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, localAddress, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString()).error?.code));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function run({ url, payerToken, freeAddresses, seconds }: ClientsInput): Promise<ClientsOutput> {
  const lineOf = (localAddress: string, token?: string): Line => ({
    agent: new Agent({ keepAlive: true }),
    localAddress,
    ...(token && { token }),
  });
  const end = performance.now() + seconds * 1000;
  let freeServed = 0;
  let freeRejected = 0;
  const free = async (line: Line, index: number) => {
    for (let turn = index; performance.now() < end; turn++) {
      if ((await call(url, line, "eth_call", loopCall(turn))) === -32005) {
        freeRejected++;
        await pause(RETRY_MS);
      } else freeServed++;
    }
  };
  const payer = lineOf("127.0.0.1", payerToken);
  const payerMs: number[] = [];
  let payerFailed = 0;
  const paying = async () => {
    const pending: Promise<void>[] = [];
    const begin = performance.now();
    for (let due = begin; due < end; due += INTERVAL_MS) {
      await pause(Math.max(0, due - performance.now()));
      // Both kinds: one that is answered at once, one that waits for its turn among the calls of others.
      const isCall = pending.length % 2 === 1;
      const ask = async () => {
        const params = isCall ? [{ to: CONTRACT }, "latest"] : [CONTRACT, "latest"];
        const code = await call(url, payer, isCall ? "eth_call" : "eth_getBalance", params);
        if (code !== undefined) payerFailed++;
        payerMs.push(performance.now() - due);
      };
      pending.push(ask());
    }
    await Promise.all(pending);
  };
  const lines = Array.from({ length: freeAddresses }, (_, index) => lineOf(`127.0.1.${index + 1}`));
  const callers = lines.flatMap((line) => Array.from({ length: CALLERS }, (_, index) => free(line, index)));
  await Promise.all([paying(), ...callers]);
  return { payerMs, payerFailed, freeServed, freeRejected };
}

process.once("message", (input: ClientsInput) => {
  void run(input).then((output) => process.send?.(output, () => process.exit()));
});
