import type { Json } from "../verify/verdict.ts";
import { call, callIfOpen } from "./rpc.ts";
import { isAddress, isBlockNumber, isHash } from "./search-words.ts";

/**
 * The route for `text`: a block, a transaction or an address; otherwise the page that searches for it by name. undefined for a hash that the
 * node does not have, and for empty text.
 */
export async function routeOf(text: string): Promise<string | undefined> {
  const word = text.trim().replace(/(\d),(?=\d{3})/g, "$1");
  if (word === "") return undefined;
  if (isAddress(word)) return `/address/${word.toLowerCase()}`;
  if (isBlockNumber(word)) return `/block/${Number(word)}`;
  if (/^(latest|earliest)$/.test(word)) {
    const block = await call<Json>("eth_getBlockByNumber", word, false);
    return `/block/${Number(block["number"])}`;
  }
  if (isHash(word)) {
    const [transaction, block] = await Promise.all([
      call<Json | null>("eth_getTransactionByHash", word),
      call<Json | null>("eth_getBlockByHash", word, false),
    ]);
    if (transaction !== null) return `/tx/${word.toLowerCase()}`;
    return block === null ? undefined : `/block/${word.toLowerCase()}`;
  }
  if (/^0x[0-9a-f]{1,12}$/i.test(word)) return `/block/${Number(word)}`;
  return `/search/${encodeURIComponent(word)}`;
}

/** A match for the searched name. */
export type Found = {
  readonly address: string;
  readonly name: string;
  readonly what: string;
  readonly isToken?: boolean;
};

/** Contracts that the node knows, by the beginning of their name. */
export async function contractsByName(name: string): Promise<readonly Found[]> {
  const found = await callIfOpen<readonly { address: string; name: string; origin: string }[]>(
    "eth_findContracts",
    name,
  );
  return (found ?? []).map(({ address, name, origin }) => ({
    address,
    name,
    what: origin === "verified" ? "contract with verified source" : "contract of the node’s project",
  }));
}
