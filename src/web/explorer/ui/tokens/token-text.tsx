import { HexText, shownAddress } from "../parts.tsx";

/** A token's symbol, linked to its page. */
export function TokenText({ token, symbol }: { readonly token: string; readonly symbol: string | undefined }) {
  const title = "the contract’s own symbol; others may have the same";
  return <HexText value={shownAddress(token)} to={`/token/${token.toLowerCase()}`} name={symbol} nameTitle={title} />;
}
