import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { DevControlError } from "../../../dev/dev-settings.ts";
import { planReadsOf } from "../../../dev/fork/choose-fork-point.ts";
import { fetchRemoteCalls, remoteName } from "../../../dev/fork/fetch-remote-calls.ts";
import { type ForkPoint, readForkBlock, storeForkChoice } from "../../../dev/fork/fork-point.ts";
import type { Config } from "../../config/config.ts";
import { forkPointPath, isInMemory } from "../../config/home.ts";
import type { Fork } from "../chain/open-fork.ts";
import { remoteAccessOf } from "../chain/remote-access.ts";

/**
 * `DevPort.setForkUrl`: switches to the node at `url`, also after a restart.
 * @throws DevControlError if the chain is not a fork, or the node has another chain; ForkRemoteError if it does not answer
 */
export async function setForkUrl(config: Config, fork: Fork | undefined, url: string, timers: Timers): Promise<void> {
  if (fork === undefined) throw new DevControlError("this chain is not a fork");
  const { point, choice } = fork;
  const { number } = point.header;
  const urls = [url];
  const { chainId, hash } = await readForkBlock(
    fetchRemoteCalls({ urls, access: remoteAccessOf(config), isFirstContact: true }, timers),
    number,
  );
  if (chainId !== point.chainId || hash !== fork.base.block.hash) {
    const remote = remoteName(url);
    throw new DevControlError("the node serves a different chain than the forked one", { remote });
  }
  // A node without proofs would fail every later read.
  if (fork.isVerified) await assertProves(config, point, url, timers);
  if (!isInMemory(config)) {
    storeForkChoice(forkPointPath(config.home), { ...choice!, urls });
  }
  fork.setUrls(urls);
}

/** @throws ForkRemoteError, ForkAnswerError, ForkProofError */
async function assertProves(config: Config, point: ForkPoint, url: string, timers: Timers): Promise<void> {
  const call = fetchRemoteCalls(
    { urls: [url], access: remoteAccessOf(config), planReads: planReadsOf(point, true) },
    timers,
  );
  const [address] = point.alloc.keys();
  await call([{ method: "eth_getBalance", params: [address, toQuantity(point.header.number)] }]);
}
