import { clippedName } from "../contracts/known-contracts.ts";
import { count } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { LoadedPanel, Table } from "../parts.tsx";
import { LISTED_TOKENS_MAX, listTokens } from "../tokens/token-list.ts";
import { TokenText } from "../tokens/token-text.tsx";
import { supplyText } from "./token.tsx";

/** Tokens with transfer logs. */
export function TokensPage() {
  const loaded = useLoaded(listTokens, []);
  return (
    <>
      <h1>Tokens</h1>
      <LoadedPanel
        title="Tokens"
        note="from logs and calls, not proven; names are the contracts’ own"
        loaded={loaded}
        show={({ tokens, from, isCut }) => (
          <>
            <Table
              label="Tokens"
              head={["Token", "Name", "Standard", "Supply", "Transfers"]}
              numeric={[3, 4]}
              rows={tokens.map((facts) => [
                <TokenText key="" token={facts.token} symbol={facts.symbol} />,
                facts.name === undefined ? "–" : clippedName(facts.name),
                facts.standard,
                supplyText(facts),
                count(facts.transfers),
              ])}
            />
            {(from > 0 || isCut) && (
              <p class="empty">
                {from > 0 && `Of blocks from ${count(from)} on: the node does not answer more logs at once. `}
                {isCut && `The ${LISTED_TOKENS_MAX} with the newest transfers are listed.`}
              </p>
            )}
          </>
        )}
      />
    </>
  );
}
