import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A node that answers; undefined when it dies before, in the block of what waited from the last time. */
export async function startVictim(home: string, step: string, count: number) {
  const script = fileURLToPath(new URL("node-victim.mjs", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, home, step, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.once("data", (text: Buffer) => resolve(text.toString().trim()));
    child.once("exit", (code) => reject(new Error(`victim did not start: exit code ${code}`)));
  });
  try {
    await call(url, "eth_chainId", []);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    await exited;
    return undefined;
  }
  return { child, url, exited };
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
