import { type Block, call } from "./rpc.ts";

const newestBlock = (): Promise<Block> => call<Block>("eth_getBlockByNumber", "latest", false);

const isHome = /^#?\/?$/.test(location.hash);

/**
 * The newest block, for the first page. The document has this module as a script of its own, so it is requested while the
 * larger scripts are still on their way. undefined on other pages.
 */
let first = isHome ? newestBlock() : undefined;
first?.catch(() => {});

/** The newest block; the first time the one that is already on its way. */
export function takeNewestBlock(): Promise<Block> {
  const block = first ?? newestBlock();
  first = undefined;
  return block;
}
