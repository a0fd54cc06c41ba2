import assert from "node:assert/strict";
import type { TestNode } from "./test-node.ts";
import { until } from "./until.ts";

/** Settings that make a test node show its metrics. */
export const WITH_METRICS = { "metrics.enable": "true", "metrics.address": "127.0.0.1:0" };

/** Value of the series `name` with exactly these labels, in the order of the exposition; 0 if there is none yet. */
export async function metricOf(node: TestNode, name: string, labels = ""): Promise<number> {
  const listener = node.node.listeners.find(({ kind }) => kind === "metrics");
  const text = await (await fetch(listener!.url)).text();
  const series = `evmint_${name}${labels && `{${labels}}`} `;
  const line = text.split("\n").find((each) => each.startsWith(series));
  return line === undefined ? 0 : Number(line.slice(series.length));
}

/** How often `transport` rejected something for `reason`. */
export function rejections(node: TestNode, transport: string, reason: string): Promise<number> {
  return metricOf(node, "rpc_rejected_total", `transport="${transport}",reason="${reason}"`);
}

/** The count of what `transport` rejected for `reason` goes up while `work` runs. */
export async function assertRejectionCounted(
  node: TestNode,
  transport: string,
  reason: string,
  work: () => Promise<void>,
): Promise<void> {
  const before = await rejections(node, transport, reason);
  await work();
  assert.ok((await rejections(node, transport, reason)) > before, `${reason} is not counted`);
}

/** Resolves with a function that waits until `transport` has rejected something for `reason` since. */
export async function awaitRejection(node: TestNode, transport: string, reason: string): Promise<() => Promise<void>> {
  const before = await rejections(node, transport, reason);
  return async () => {
    const isCounted = async () => (await rejections(node, transport, reason)) > before;
    await until(isCounted, `a rejection over ${transport} for ${reason}`);
  };
}
