import { useState } from "preact/hooks";
import type { Address } from "../../../../base/primitives/address.ts";
import { TRANSFER_TOPIC } from "../../../../base/types/transfer-log.ts";
import { clippedName } from "../contracts/known-contracts.ts";
import { count, decimal, percentText } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { BlockLink } from "../lists.tsx";
import { AddressText, Fields, HexText, PageButtons, Panel, Problem, Table, Tabs, When } from "../parts.tsx";
import { isAddress } from "../search-words.ts";
import {
  type Holder,
  holdersOf,
  type Movement,
  movementsIn,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
} from "../tokens/holders.ts";
import { findLogs } from "../tokens/logs.ts";
import { amountOf, type TokenFacts, tokenFacts, viewToken } from "../tokens/token-facts.ts";
import { amountText, itemText } from "../tokens/tokens.ts";

const TRANSFERS_SHOWN = 25;
/** Holders listed; the balance of each costs a call. */
const HOLDERS_SHOWN = 50;

type LoadedToken = {
  readonly facts: TokenFacts | undefined;
  readonly movements: readonly Movement[];
  readonly from: number;
  readonly to: number;
};

async function loadToken(token: Address): Promise<LoadedToken> {
  const [facts, { logs, from, to }] = await Promise.all([
    tokenFacts(token),
    findLogs({ address: token, topics: [[TRANSFER_TOPIC, TRANSFER_SINGLE, TRANSFER_BATCH]] }),
  ]);
  return { facts, movements: movementsIn(logs), from, to };
}

/** A token: its own description, its transfers and its holders. */
export function TokenPage({ token, tab }: { readonly token: string; readonly tab: string }) {
  if (!isAddress(token)) {
    const text = `“${token.slice(0, 80)}” is not an address: that is 0x and 40 hex digits.`;
    return <Problem title="Token" text={text} />;
  }
  return <TokenView token={token.toLowerCase() as Address} tab={tab} />;
}

function TokenView({ token, tab }: { readonly token: Address; readonly tab: string }) {
  const loaded = useLoaded(() => loadToken(token), [token]);
  const route = `/token/${token}`;
  return (
    <When
      loaded={loaded}
      show={({ facts, movements, from, to }) => {
        if (facts === undefined && movements.length === 0) {
          return <Problem title="Token" text={`The contract at ${token} does not answer as a token.`} />;
        }
        const range = { from, to };
        return (
          <>
            <h1>{clippedName(facts?.name ?? facts?.symbol ?? "Token")}</h1>
            <TokenPanel token={token} facts={facts} />
            <Tabs
              label="Parts of the token"
              open={tab === "holders" ? `${route}/holders` : route}
              tabs={[
                [route, "Transfers"],
                [`${route}/holders`, "Holders"],
              ]}
            />
            {tab === "holders" ? (
              <HoldersPanel token={token} facts={facts} movements={movements} range={range} />
            ) : (
              <TransfersPanel facts={facts} movements={movements} range={range} />
            )}
          </>
        );
      }}
    />
  );
}

export function supplyText({ totalSupply, decimals, standard }: TokenFacts): string {
  if (totalSupply === undefined) return "–";
  return standard === "ERC-20" ? decimal(totalSupply, decimals ?? 0) : count(totalSupply);
}

function TokenPanel({ token, facts }: { readonly token: Address; readonly facts: TokenFacts | undefined }) {
  return (
    <Panel title="Token" note="as the contract says; others may have the same name">
      <Fields
        rows={[
          ["Contract", <AddressText key="" value={token} isWhole />],
          ["Standard", facts?.standard ?? "none known: it has logs of transfers alone"],
          facts?.name !== undefined && ["Name", clippedName(facts.name)],
          facts?.symbol !== undefined && ["Symbol", clippedName(facts.symbol)],
          facts?.decimals !== undefined && ["Decimals", String(facts.decimals)],
          facts?.totalSupply !== undefined && ["Total supply", supplyText(facts)],
        ]}
      />
    </Panel>
  );
}

type Range = { readonly from: number; readonly to: number };

/** The searched blocks; shown wherever something is counted. */
function rangeText({ from, to }: Range): string {
  return from === 0
    ? `blocks 0 to ${count(to)}`
    : `blocks ${count(from)} to ${count(to)}: older logs are too many for one answer of the node`;
}

function TransfersPanel(props: {
  readonly facts: TokenFacts | undefined;
  readonly movements: readonly Movement[];
  readonly range: Range;
}) {
  const { facts, movements, range } = props;
  const [page, setPage] = useState(0);
  const start = page * TRANSFERS_SHOWN;
  const shown = movements.toReversed().slice(start, start + TRANSFERS_SHOWN);
  return (
    <Panel title={`Transfers (${count(movements.length)})`} note="from logs, not proven">
      <Table
        label="Transfers"
        head={["Transaction", "Block", "From", "To", "Amount"]}
        numeric={[1, 4]}
        rows={shown.map(({ log, from, to, id, amount }) => [
          <HexText key="tx" value={log.transactionHash} to={`/tx/${log.transactionHash}`} />,
          <BlockLink key="block" number={log.blockNumber} />,
          <AddressText key="from" value={from} />,
          <AddressText key="to" value={to} />,
          id === undefined ? amountText(amount, infoOf(facts)) : itemText(id, amount),
        ])}
      />
      <p class="empty">Of {rangeText(range)}.</p>
      <PageButtons page={page} size={TRANSFERS_SHOWN} total={movements.length} open={setPage} />
    </Panel>
  );
}

function infoOf(facts: TokenFacts | undefined) {
  return { symbol: facts?.symbol, decimals: facts?.decimals };
}

type ListedHolder = Holder & { readonly balance: bigint | undefined };

/** The largest holders by their transfers; for ERC-20 with the balances that the contract returns. */
async function listHolders(
  token: Address,
  holders: readonly Holder[],
  isErc20: boolean,
): Promise<readonly ListedHolder[]> {
  return Promise.all(
    holders.slice(0, HOLDERS_SHOWN).map(async (holder) => {
      const balance = isErc20 ? amountOf(await viewToken(token, "balanceOf", holder.address)) : undefined;
      return { ...holder, balance };
    }),
  );
}

function HoldersPanel(props: {
  readonly token: Address;
  readonly facts: TokenFacts | undefined;
  readonly movements: readonly Movement[];
  readonly range: Range;
}) {
  const { token, facts, movements, range } = props;
  const holders = holdersOf(movements);
  const hasIds = movements.some(({ id }) => id !== undefined);
  const listed = useLoaded(() => listHolders(token, holders, !hasIds), [token, movements]);
  const isWhole = range.from === 0;
  const total = facts?.totalSupply ?? 0n;
  return (
    <Panel
      title={`Holders (${isWhole ? "" : "at least "}${count(holders.length)})`}
      note="counted from logs of transfers, not proven"
    >
      <When
        loaded={listed}
        show={(rows) => (
          <Table
            label="Holders"
            head={hasIds ? ["#", "Holder", "Items", "Amount"] : ["#", "Holder", "Balance", "Of the supply"]}
            numeric={[0, 2, 3]}
            rows={rows.map(({ address, amount, ids, balance }, index) => [
              count(index + 1),
              <AddressText key="" value={address} />,
              ...(hasIds
                ? [count(ids), count(amount)]
                : [
                    balance === undefined ? "–" : decimal(balance, facts?.decimals ?? 0),
                    balance === undefined || total === 0n ? "–" : percentText(balance, total),
                  ]),
            ])}
          />
        )}
      />
      <p class="empty">
        Of {rangeText(range)}.{holders.length > HOLDERS_SHOWN && ` The ${HOLDERS_SHOWN} largest are listed.`}
        {!hasIds && " A token that changes balances without a log has other holders than these."}
      </p>
    </Panel>
  );
}
