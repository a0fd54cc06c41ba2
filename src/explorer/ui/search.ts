import type { Json } from "../verify/verdict.ts";
import { contractNamed } from "./contracts.ts";
import { call } from "./rpc.ts";

export function isHash(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text);
}

export function isAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text);
}

/** The route of what `text` names: a block, transaction, address, or uploaded contract; undefined where it names nothing. */
export async function routeOf(text: string): Promise<string | undefined> {
  const word = text.trim().replace(/(\d),(?=\d{3})/g, "$1");
  if (isAddress(word)) return `/address/${word.toLowerCase()}`;
  if (/^\d+$/.test(word)) return `/block/${Number(word)}`;
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
  if (/^0x[0-9a-f]{1,16}$/i.test(word)) return `/block/${Number(word)}`;
  const contract = contractNamed(word);
  return contract && `/address/${contract.address}`;
}
