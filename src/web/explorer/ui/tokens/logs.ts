import { toQuantity } from "../../../../base/primitives/quantity.ts";
import { type Block, call, type Log, RpcError } from "../rpc.ts";

/** Logs, oldest first, and the searched blocks: all, or as far back as one answer of the node reaches. */
export type FoundLogs = {
  readonly logs: readonly Log[];
  /** the first searched block */
  readonly from: number;
  readonly to: number;
};

type LogFilter = { readonly address?: string; readonly topics?: readonly unknown[] };

/** Attempts if an answer is too large: each searches the newest quarter of the previous range. */
const TRIES_MAX = 12;
const SMALLER = 4;

/** All logs of `filter`; if these are too many for the node, only the newest blocks' logs. @throws RpcError */
export async function findLogs(filter: LogFilter): Promise<FoundLogs> {
  const head = await call<Block>("eth_getBlockByNumber", "latest", false);
  const to = Number(head.number);
  let blocks = to + 1;
  for (let tries = 1; ; tries++) {
    const from = to + 1 - blocks;
    try {
      const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
      return { logs: await call<Log[]>("eth_getLogs", { ...filter, ...range }), from, to };
    } catch (error) {
      if (!(error instanceof RpcError) || error.isForbidden || blocks === 1 || tries === TRIES_MAX) throw error;
      blocks = Math.max(1, Math.floor(blocks / SMALLER));
    }
  }
}
