import { useState } from "preact/hooks";
import type { Address } from "../../../../base/primitives/address.ts";
import { count, decimal } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { TransactionTable } from "../lists.tsx";
import { LoadedPanel, PageButtons, Table } from "../parts.tsx";
import { call, type Receipt, type Transaction } from "../rpc.ts";
import { findLogs } from "../tokens/logs.ts";
import { TokenText } from "../tokens/token-text.tsx";
import { holdingsOf } from "../tokens/tokens.ts";
import { Logs } from "../trace-parts.tsx";

export function HoldingsPanel({ address }: { address: Address }) {
  const loaded = useLoaded(() => holdingsOf(address), [address]);
  return (
    <LoadedPanel
      title="Tokens"
      note="from logs and calls, not proven"
      loaded={loaded}
      show={({ holdings, from }) => (
        <>
          <Table
            label="Tokens"
            head={["Token", "Balance", "Items"]}
            numeric={[1]}
            rows={holdings.map(({ token, symbol, decimals, balance, items }) => [
              <TokenText key="" token={token} symbol={symbol} />,
              balance === undefined ? "–" : decimal(balance, decimals ?? 0),
              items.join(", "),
            ])}
          />
          {from > 0 && (
            <p class="empty">
              By logs of blocks from {count(from)} on: older ones are too many for one answer of the node.
            </p>
          )}
        </>
      )}
    />
  );
}

type History = {
  readonly txs: readonly Transaction[];
  readonly receipts: readonly (Receipt & { readonly timestamp?: number })[];
  readonly lastPage: boolean;
};

const PAGE_SIZE = 25;

export function HistoryPanel({ address }: { address: string }) {
  const [before, setBefore] = useState(0);
  const loaded = useLoaded(
    () => call<History>("ots_searchTransactionsBefore", address, before, PAGE_SIZE),
    [address, before],
  );
  return (
    <LoadedPanel
      title="Transactions"
      note="from the node’s index, not proven"
      loaded={loaded}
      show={({ txs, receipts, lastPage }) => (
        <>
          <TransactionTable
            label="Transactions of the address"
            rows={txs.map((tx, i) => ({ tx, receipt: receipts[i], timestamp: receipts[i]?.timestamp }))}
          />
          <div class="inline">
            {before !== 0 && (
              <button type="button" onClick={() => setBefore(0)}>
                Newest
              </button>
            )}
            {!lastPage && (
              <button type="button" onClick={() => setBefore(Number(txs.at(-1)?.blockNumber ?? "0x0"))}>
                Older
              </button>
            )}
          </div>
        </>
      )}
    />
  );
}

const EVENTS_SHOWN = 25;

/** The logs of a contract, newest first. */
export function EventsPanel({ address }: { address: Address }) {
  const [page, setPage] = useState(0);
  const loaded = useLoaded(() => findLogs({ address }), [address]);
  return (
    <LoadedPanel
      title="Events"
      note="as the node says; open a transaction to check them"
      loaded={loaded}
      show={({ logs, from, to }) => {
        const start = page * EVENTS_SHOWN;
        const newestFirst = logs.toReversed();
        return (
          <>
            <Logs logs={newestFirst.slice(start, start + EVENTS_SHOWN)} hasPlaces />
            <p class="empty">
              {count(logs.length)} events in blocks {count(from)} to {count(to)}
              {from > 0 && "; older ones are too many for one answer of the node"}.
            </p>
            <PageButtons page={page} size={EVENTS_SHOWN} total={logs.length} open={setPage} />
          </>
        );
      }}
    />
  );
}
