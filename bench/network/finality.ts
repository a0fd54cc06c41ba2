import { setTimeout } from "node:timers/promises";
import { WebSocket } from "ws";
import { eventually, type NetworkNode } from "../../test/network/network.ts";
import type { SignedTransaction } from "../throughput/workload.ts";

type Notification = {
  readonly method?: string;
  readonly params?: { readonly result: { readonly hash: string } };
};

export function reaches(node: NetworkNode, height: number): Promise<number> {
  return eventually(`block ${height}`, async () => (await node.height()) >= height);
}

/** Times between the newest `blocks` blocks by CometBFT's clock. Milliseconds. */
export async function intervalsOf(node: NetworkNode, blocks: number): Promise<Readonly<Record<string, number>>> {
  const head = await node.height();
  const times: number[] = [];
  for (let height = Math.max(2, head - blocks); height <= head; height++) times.push(await node.engineTime(height));
  const intervals = times.slice(1).map((time, i) => time - times[i]!);
  intervals.sort((a, b) => a - b);
  return {
    "interval p50 ms": intervals[Math.floor(intervals.length / 2)]!,
    "interval longest ms": intervals.at(-1)!,
  };
}

/**
 * Milliseconds from sending a transaction to the `newHeads` message for the block that has it, over one WebSocket connection; `rate`
 * transactions a second, each sent without waiting for others.
 */
export async function finalityTimes(
  { client, port }: NetworkNode,
  transactions: readonly SignedTransaction[],
  rate: number,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port + 1}`);
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const heads: { readonly hash: string; readonly at: number }[] = [];
  socket.on("message", (data) => {
    const at = performance.now();
    const { method, params } = JSON.parse(data.toString()) as Notification;
    if (method === "eth_subscription") heads.push({ hash: params!.result.hash, at });
  });
  const send = (id: number, method: string, params: readonly unknown[]) =>
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  send(0, "eth_subscribe", ["newHeads"]);
  const sentAt = new Map<string, number>();
  for (const [index, { hash, raw }] of transactions.entries()) {
    sentAt.set(hash, performance.now());
    send(index + 1, "eth_sendRawTransaction", [raw]);
    await setTimeout(1000 / rate);
  }
  const times: number[] = [];
  for (let next = 0; times.length < transactions.length; ) {
    const head = heads[next];
    if (head === undefined) {
      await setTimeout(50);
      continue;
    }
    next++;
    const { transactions: included } = await client.getBlock({
      blockHash: head.hash as `0x${string}`,
    });
    for (const hash of included) {
      const sent = sentAt.get(hash);
      if (sent !== undefined) times.push(head.at - sent);
    }
  }
  socket.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]!;
  return { p50: at(0.5), p99: at(0.99) };
}
