import { type Block, call } from "./rpc.ts";

const newestBlock = (): Promise<Block> => call<Block>("eth_getBlockByNumber", "latest", false);

const isHome = /^#?\/?$/.test(location.hash);

/**
 * The newest block, for the first page. The document loads this module as a separate script, so the block is requested while the larger scripts
 * still load. undefined on other pages.
 */
let first = isHome ? newestBlock() : undefined;
first?.catch(() => {});

/** The newest block; the first call returns the one already requested. */
export function takeNewestBlock(): Promise<Block> {
  const block = first ?? newestBlock();
  first = undefined;
  return block;
}
