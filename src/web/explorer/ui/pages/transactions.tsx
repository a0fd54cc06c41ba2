import { count } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { type Cursor, LIST_LIMITS, transactionPage } from "../listed-transactions.ts";
import { TransactionTable } from "../lists.tsx";
import { LoadedPanel } from "../parts.tsx";
import { type Block, call } from "../rpc.ts";

/** All transactions down to block 0, in pages. A page begins at `block` and `index`; empty: at the newest. */
export function TransactionsPage({ block, index }: { readonly block: string; readonly index: string }) {
  const loaded = useLoaded(async () => transactionPage(await cursorOf(block, index)), [block, index]);
  return (
    <>
      <h1>Transactions</h1>
      <LoadedPanel
        title="Transactions"
        note="as the node says; open one to check it"
        loaded={loaded}
        show={({ rows, next }) => (
          <>
            <TransactionTable label="Transactions" rows={rows} />
            {rows.length < LIST_LIMITS.rows && next !== undefined && (
              <p class="empty">{count(LIST_LIMITS.blocksMax)} blocks were looked through.</p>
            )}
            <nav class="pages" aria-label="Pages of transactions">
              {block !== "" && <a href="#/txs">Newest</a>}
              {next === undefined ? (
                <span class="muted">These are the first ones of the chain.</span>
              ) : (
                <a href={`#/txs/${next.number}/${next.index}`}>Older →</a>
              )}
            </nav>
          </>
        )}
      />
    </>
  );
}

async function cursorOf(block: string, index: string): Promise<Cursor> {
  const isNumber = (text: string) => /^\d{1,16}$/.test(text);
  const number = isNumber(block)
    ? Number(block)
    : Number((await call<Block>("eth_getBlockByNumber", "latest", false)).number);
  return { number, index: isNumber(index) ? Number(index) : Number.MAX_SAFE_INTEGER };
}
