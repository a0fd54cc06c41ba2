import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { ListedTransaction } from "./lists.tsx";
import { type Block, call, callIfOpen, type Receipt, type Transaction } from "./rpc.ts";

/** Cached transactions of lists: a mined one changes only with its block. */
const listed = new Map<string, ListedTransaction>();
const LISTED_MAX = 500;

/** The transactions with these hashes of `block`, with their outcomes; transactions that the node lacks are omitted. */
export async function listTransactions(
  wanted: readonly { readonly hash: string; readonly block: Pick<Block, "hash" | "timestamp"> }[],
): Promise<readonly ListedTransaction[]> {
  const rows = await Promise.all(
    wanted.map(async ({ hash, block }) => {
      const key = `${block.hash} ${hash}`;
      const known = listed.get(key);
      if (known !== undefined) return known;
      const [tx, receipt] = await Promise.all([
        call<Transaction | null>("eth_getTransactionByHash", hash),
        callIfOpen<Receipt | null>("eth_getTransactionReceipt", hash),
      ]);
      if (tx === null) return undefined;
      const row = { tx, receipt: receipt ?? undefined, timestamp: block.timestamp };
      if (listed.size >= LISTED_MAX) listed.clear();
      if (receipt && tx.blockHash === block.hash) listed.set(key, row);
      return row;
    }),
  );
  return rows.filter((row) => row !== undefined);
}

/** Start of a page in the list of all transactions: the transaction before `index` of block `number`. */
export type Cursor = { readonly number: number; readonly index: number };

export type TransactionPage = {
  readonly rows: readonly ListedTransaction[];
  /** undefined: the list ends with block 0 */
  readonly next: Cursor | undefined;
};

export const LIST_LIMITS = {
  /** Transactions per page. */
  rows: 25,
  /** Blocks to request at once. */
  blocksAtOnce: 50,
  /** Blocks searched for one page: many may be empty, and each costs a call. */
  blocksMax: 1000,
} as const;

/** The transactions before `cursor`, newest first, as claimed by the node. A page may have fewer: `next` continues after the last block searched. */
export async function transactionPage(cursor: Cursor): Promise<TransactionPage> {
  const wanted: { hash: string; block: Block }[] = [];
  let { number, index } = cursor;
  const last = Math.max(0, number - LIST_LIMITS.blocksMax + 1);
  while (number >= last) {
    const first = Math.max(last, number - LIST_LIMITS.blocksAtOnce + 1);
    const numbers = Array.from({ length: number - first + 1 }, (_, i) => number - i);
    const blocks = await Promise.all(
      numbers.map((each) => call<Block | null>("eth_getBlockByNumber", toQuantity(each), false)),
    );
    for (const block of blocks) {
      if (block === null) continue;
      const hashes = block.transactions as readonly string[];
      for (let at = Math.min(index, hashes.length) - 1; at >= 0; at--) {
        if (wanted.length === LIST_LIMITS.rows) {
          return { rows: await listTransactions(wanted), next: { number: Number(block.number), index: at + 1 } };
        }
        wanted.push({ hash: hashes[at]!, block });
      }
      index = Number.MAX_SAFE_INTEGER;
    }
    number = first - 1;
  }
  return { rows: await listTransactions(wanted), next: number < 0 ? undefined : { number, index } };
}
