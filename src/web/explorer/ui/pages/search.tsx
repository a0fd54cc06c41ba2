import { clippedName } from "../contracts/known-contracts.ts";
import { uploadedContracts } from "../contracts/uploaded.ts";
import { useLoaded } from "../hooks.ts";
import { AddressText, HexText, LoadedPanel, shownAddress, Table } from "../parts.tsx";
import { contractsByName, type Found } from "../search.ts";
import { listTokens } from "../tokens/token-list.ts";

const startsWith = (name: string | undefined, word: string) =>
  name?.toLowerCase().startsWith(word.toLowerCase()) === true;

async function find(word: string): Promise<readonly Found[]> {
  const uploaded = uploadedContracts()
    .filter(({ name }) => startsWith(name, word))
    .map(({ address, name }) => ({ address, name, what: "contract that was uploaded here" }));
  const [known, tokens] = await Promise.all([contractsByName(word), listTokens().catch(() => undefined)]);
  const named = (tokens?.tokens ?? [])
    .filter(({ name, symbol }) => startsWith(name, word) || startsWith(symbol, word))
    .map(({ token, name, symbol, standard }) => ({
      address: token,
      name: symbol ?? name ?? "",
      isToken: true,
      what: `${standard} token${name === undefined ? "" : `, ${clippedName(name)}`}`,
    }));
  return [...uploaded, ...known, ...named];
}

/** Contracts and tokens by the beginning of their name. */
export function SearchPage({ word }: { readonly word: string }) {
  const loaded = useLoaded(() => find(word), [word]);
  return (
    <>
      <h1>Search</h1>
      <LoadedPanel
        title={`“${clippedName(word)}”`}
        note="names are the contracts’ own"
        loaded={loaded}
        show={(found) =>
          found.length === 0 ? (
            <p class="empty" role="status">
              Nothing has this name here. A search takes the number or hash of a block, the hash of a transaction, an
              address, or the beginning of the name of a contract or of a token.
            </p>
          ) : (
            <Table
              label="Found"
              head={["Name", "Address", "What"]}
              rows={found.map(({ address, name, what, isToken }) => [
                clippedName(name),
                isToken ? (
                  <HexText key="" value={shownAddress(address)} to={`/token/${address}`} isWhole />
                ) : (
                  <AddressText key="" value={address} isWhole />
                ),
                what,
              ])}
            />
          )
        }
      />
    </>
  );
}
