import type { Config } from "../../config/config.ts";
import { forkPointPath, isInMemory } from "../../config/home.ts";
import { DevControlError } from "../../dev/errors.ts";
import { fetchRemoteCalls } from "../../dev/fork/fetch-remote-calls.ts";
import { storeForkChoice } from "../../dev/fork/fork-file.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Fork } from "../compose/open-fork.ts";

/**
 * `DevPort.setForkUrl`: the node at `url` is asked from now on, also after a restart.
 * @throws DevControlError where nothing is forked, or the node has another chain; ForkRemoteError where it does not answer
 */
export async function setForkUrl(
  config: Config,
  fork: Fork | undefined,
  url: string,
): Promise<void> {
  if (fork === undefined) throw new DevControlError("the chain continues no other chain");
  const { header, hash } = fork.base.block;
  const [chainId, block] = await fetchRemoteCalls({ urls: [url] })([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [toQuantity(header.number), false] },
  ]);
  const isSameChain =
    chainId === toQuantity(fork.genesis.config.chainId) &&
    (block as { readonly hash?: unknown } | null)?.hash === hash;
  if (!isSameChain) {
    throw new DevControlError("the node has another chain than the forked one", { url });
  }
  const urls = [url];
  if (!isInMemory(config)) {
    storeForkChoice(forkPointPath(config.home), { point: fork.point, urls });
  }
  fork.setUrls(urls);
}
