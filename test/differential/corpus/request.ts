import { send } from "../geth.ts";

/** One request that both nodes get. */
export type DifferentialCase = {
  /** What is tried, for the list of differences. */
  readonly name: string;
  readonly method: string;
  readonly params: readonly unknown[];
};

/** What the corpus is made from: a chain that both nodes hold. */
export type ChainFacts = {
  readonly chainId: number;
  readonly head: number;
  readonly blocks: readonly BlockFacts[];
  /** A funded account without code. */
  readonly sender: string;
};

export type BlockFacts = {
  readonly number: string;
  readonly hash: string;
  readonly transactions: readonly string[];
};

/** Reads blocks and transactions of the chain from a node. */
export async function readChain(url: string, sender: string): Promise<ChainFacts> {
  const ask = async (method: string, ...params: unknown[]) => (await send(url, method, params)).result;
  const head = Number(await ask("eth_blockNumber"));
  const blocks: BlockFacts[] = [];
  for (let number = 0; number <= head; number++) {
    const block = await ask("eth_getBlockByNumber", `0x${number.toString(16)}`, false);
    blocks.push(block as BlockFacts);
  }
  return { chainId: Number(await ask("eth_chainId")), head, blocks, sender };
}

/** Every block of a short chain, else about `count` spread over it. */
export function sample<T>(items: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, i) => i % step === 0 || i === items.length - 1);
}
