import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Chain } from "../chain/chain.ts";
import { syncDirectory } from "../storage/log-file.ts";
import { makeFolder } from "../storage/make-folder.ts";
import { exportChainFile } from "./transfer-chain-file.ts";

/**
 * Writes blocks `first` to `last`, which exist, to a chain file in `directory`; it is durable when the promise resolves.
 * @returns its path, which names the last block's hash: the same blocks are written once
 */
export async function setAsideBlocks(
  directory: string,
  chain: Pick<Chain, "block" | "consensusDataOf" | "blockHash">,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<string> {
  const path = join(directory, `${first}-${last}-${chain.blockHash(last)!.slice(2, 10)}.rlp.gz`);
  if (existsSync(path)) return path;
  makeFolder(directory);
  const unfinished = join(directory, "unfinished.rlp.gz");
  await rm(unfinished, { force: true });
  await exportChainFile(unfinished, chain, { first, last }, { mayContinue: () => true });
  await rename(unfinished, path);
  syncDirectory(directory);
  return path;
}
