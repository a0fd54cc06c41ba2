import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { NetworkNode } from "../../test/network/network.ts";
import type { SignedTransaction } from "../throughput/workload.ts";

const GROUP = "/sys/fs/cgroup/cpu/evmint-bench";
const PERIOD_US = 100_000;
/** The weight of twenty programs: others on this machine take nothing of the share. */
const WEIGHT = 20_480;
const CONNECTIONS_EACH = 16;

/** Processes that have a share of this machine's processors together: a control group of version 1, which takes root. */
export class ProcessorShare {
  /** @param cores of which all together use no more @throws where the system has no such groups */
  constructor(cores: number) {
    if (!existsSync("/sys/fs/cgroup/cpu/cgroup.procs"))
      throw new Error("this part needs root and a cpu cgroup of version 1");
    mkdirSync(GROUP, { recursive: true });
    writeFileSync(join(GROUP, "cpu.shares"), String(WEIGHT));
    writeFileSync(join(GROUP, "cpu.cfs_period_us"), String(PERIOD_US));
    writeFileSync(join(GROUP, "cpu.cfs_quota_us"), String(Math.round(cores * PERIOD_US)));
  }

  add(pids: readonly number[]): void {
    for (const pid of pids) writeFileSync(join(GROUP, "cgroup.procs"), String(pid));
  }

  /** After its processes have ended. */
  close(): void {
    rmdirSync(GROUP);
  }
}

type Answer = {
  readonly result?: string;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly retryAfterMs?: number };
  };
};

export type Offered = {
  /** Transactions that a node acknowledged. */
  readonly accepted: readonly SignedTransaction[];
  /** Answers that said to send again later. */
  readonly putOff: number;
};

/**
 * Offers `rate` transactions a second, a sender's one after the other, each to another node than the one before. A sender who is put off waits
 * as long as the node says and sends the same again. What is not accepted after `seconds` is not sent any more.
 */
export async function offer(
  nodes: readonly NetworkNode[],
  transactions: readonly SignedTransaction[],
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Offered> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_EACH });
  const end = performance.now() + seconds * 1_000;
  const accepted: SignedTransaction[] = [];
  let putOff = 0;
  const sendUntilAccepted = async (transaction: SignedTransaction, port: number) => {
    while (performance.now() < end) {
      const { result, error } = await send(agent, port, transaction.raw);
      if (result !== undefined) {
        accepted.push(transaction);
        return;
      }
      if (error?.code !== -32005) throw new Error(error?.message);
      putOff++;
      await setTimeout(error.data?.retryAfterMs ?? 1_000);
    }
  };
  const begin = performance.now();
  const bySender = new Map<number, Promise<void>>();
  for (const [index, transaction] of transactions.slice(0, rate * seconds).entries()) {
    const due = begin + (index * 1_000) / rate;
    if (due > performance.now()) await setTimeout(due - performance.now());
    const { sender } = transaction;
    const { port } = nodes[index % nodes.length]!;
    const before = bySender.get(sender) ?? Promise.resolve();
    bySender.set(
      sender,
      before.then(() => sendUntilAccepted(transaction, port)),
    );
  }
  await Promise.all(bySender.values());
  agent.destroy();
  return { accepted, putOff };
}

async function send(agent: Agent, port: number, raw: string): Promise<Answer> {
  const body = `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${raw}"]}`;
  const headers = { "content-type": "application/json", "content-length": body.length };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method: "POST", headers }, (response) => {
      json(response).then((answer) => resolve(answer as Answer), reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
