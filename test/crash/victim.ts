import { join } from "node:path";
import { NodeProcess } from "../storm/node-process.ts";

const FLAGS = {
  "json-rpc.address": "127.0.0.1:0",
  "json-rpc.ws-address": "127.0.0.1:0",
  "json-rpc.processes": process.env["TEST_PROCESSES"] ?? "0",
};

export const logFileIn = (home: string): string => join(home, "node.log");

/** Starts a dev chain in a separate process, and resolves once it answers. @throws Error if it ends before */
export async function startVictim(home: string): Promise<NodeProcess> {
  const node = new NodeProcess({ home, dev: true, flags: FLAGS, hooks: {}, logFile: logFileIn(home) });
  await node.firstAnswer();
  return node;
}

/** The node answered, and rejected. */
export class RpcError extends Error {}

export async function call<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error) throw new RpcError(`${method}: ${error.message}`);
  return result;
}
