import { count, etherShort, gwei } from "../format.ts";
import { useHead, useLoaded } from "../hooks.ts";
import { Method, Receiver } from "../lists.tsx";
import { AddressText, HexText, Panel, Table, When } from "../parts.tsx";
import { call, type Transaction } from "../rpc.ts";

/** Maximum transactions listed: the whole pool is sent to the page, and a full one has megabytes. */
const LISTED_MAX = 500;

/** By sender and nonce. */
type Waiting = Readonly<Record<string, Readonly<Record<string, Transaction>>>>;
type Status = { readonly pending: string; readonly queued: string };

async function loadPool() {
  const status = await call<Status>("txpool_status");
  if (Number(status.pending) + Number(status.queued) > LISTED_MAX) return { status, content: undefined };
  const content = await call<{ readonly pending: Waiting; readonly queued: Waiting }>("txpool_content");
  return { status, content };
}

/** Transactions that wait for a block, and those that wait for an earlier nonce. */
export function PoolPage() {
  const { head } = useHead();
  const loaded = useLoaded(loadPool, [head?.hash]);
  return (
    <>
      <h1>Pool</h1>
      <When
        loaded={loaded}
        show={({ status, content }) => (
          <>
            <WaitingPanel title="Pending" total={status.pending} waiting={content?.pending} />
            <WaitingPanel
              title="Queued, behind a nonce that is missing"
              total={status.queued}
              waiting={content?.queued}
            />
          </>
        )}
      />
    </>
  );
}

function WaitingPanel(props: {
  readonly title: string;
  readonly total: string;
  readonly waiting: Waiting | undefined;
}) {
  const { title, total, waiting } = props;
  const rows = Object.values(waiting ?? {}).flatMap((byNonce) => Object.values(byNonce));
  return (
    <Panel title={`${title} (${count(total)})`} note="as the node says">
      {waiting === undefined ? (
        <p class="empty">Too many to list: up to {count(LISTED_MAX)} are shown.</p>
      ) : (
        <Table
          label={title}
          head={["Hash", "Method", "From", "Nonce", "To", "Value", "Gas limit", "Max fee"]}
          numeric={[3, 5, 6, 7]}
          rows={rows.map((tx) => [
            <HexText key="hash" value={tx.hash} to={`/tx/${tx.hash}`} />,
            <Method key="method" to={tx.to} input={tx.input} />,
            <AddressText key="from" value={tx.from} />,
            count(tx.nonce),
            <Receiver key="to" to={tx.to} created={undefined} />,
            etherShort(tx.value),
            count(tx.gas),
            gwei(tx.maxFeePerGas ?? tx.gasPrice),
          ])}
        />
      )}
    </Panel>
  );
}
