import type { Attack } from "./node-under-audit.ts";
import type { World } from "./world.ts";

const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const call = (method: string, params: readonly unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const times = (count: number, text: string | Uint8Array) => Array<string | Uint8Array>(count).fill(text);

/** What one WebSocket may send, at its dearest: subscriptions, their ends, and frames that are no calls. */
export function messages({ addresses }: World): Readonly<Record<string, readonly Attack[]>> {
  const of = (...sent: readonly (readonly (string | Uint8Array)[])[]): readonly Attack[] =>
    sent.map((messages) => ({ messages }));
  const logs = (criteria: object) => call("eth_subscribe", ["logs", criteria]);
  return {
    "WS eth_subscribe newHeads": of(
      times(1, call("eth_subscribe", ["newHeads"])),
      times(1_000, call("eth_subscribe", ["newHeads"])),
    ),
    "WS eth_subscribe logs": of(
      [logs({ address: Array.from({ length: 30_000 }, (_, i) => address(i)) })],
      [
        logs({
          topics: Array.from({ length: 4 }, () =>
            Array.from({ length: 8_000 }, (_, i) => `0x${i.toString(16).padStart(64, "0")}`),
          ),
        }),
      ],
      times(1_000, logs({ address: addresses })),
    ),
    "WS eth_subscribe of everything": of(
      ["newPendingTransactions", "syncing", "newHeads", "no such thing"].map((kind) =>
        call("eth_subscribe", [kind, true]),
      ),
      times(500, call("eth_subscribe", ["newPendingTransactions", true])),
    ),
    "WS eth_unsubscribe": of(
      times(2_000, call("eth_unsubscribe", ["0x1"])),
      [call("eth_subscribe", ["newHeads"]), ...times(1_000, call("eth_unsubscribe", [`0x${"1".repeat(32)}`]))],
      [call("eth_unsubscribe", ["x".repeat(4_000_000)])],
    ),
    "WS messages": of(
      times(5_000, call("eth_chainId", [])),
      [`[${times(1_000, call("eth_blockNumber", [])).join(",")}]`],
      ["x".repeat(4_000_000)],
      [" ".repeat(4_000_000)],
      [`${"[".repeat(2_000_000)}`],
      [Buffer.alloc(4_000_000)],
      times(20_000, "{}"),
      times(20_000, ""),
    ),
  };
}
