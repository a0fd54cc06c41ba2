import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { ForkChoice } from "../../../dev/fork/fork-point.ts";
import type { Forking } from "../../../rpc/ports/dev.ts";
import { assertDevChain } from "../../adapters/dev-port.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory } from "../../config/home.ts";
import type { InstanceId } from "../../config/secrets.ts";
import type { ChainRole } from "../chain/chain-role.ts";
import { openChain } from "../chain/open-chain.ts";
import { chooseFork, type Fork, type ForkModules, openFork } from "../chain/open-fork.ts";
import { beginReset } from "./reset-home.ts";

/**
 * `DevPort.reset`: removes the newest blocks if the chain afterwards begins with the same block; otherwise closes, removes and recreates its
 * store, while listeners and connections stay.
 */
export function createReset(
  config: Config,
  modules: {
    readonly role: () => ChainRole;
    readonly whileIdle: (work: () => Promise<void>) => Promise<void>;
    /** Closes the chain and opens the chosen one; `fork` is the chain it forks. */
    readonly replace: (fork: Fork | undefined) => Promise<void>;
    readonly onFatal: (error: unknown) => void;
    readonly log: Logger;
    readonly timers: Timers;
  },
): (forking: Forking | undefined, instance: InstanceId) => Promise<void> {
  const { role, whileIdle, replace, onFatal } = modules;

  async function begin(choice: ForkChoice, instance: InstanceId): Promise<void> {
    const { fork: current, isLoaded } = role().opened;
    if (!isLoaded && isSameBeginning(current, choice)) {
      await assertDevChain(role()).reset();
      instance.renew();
      return;
    }
    const fork = await rehearse(config, choice, modules);
    if (!isInMemory(config)) beginReset(config.home, choice);
    await replace(fork).catch((error) => {
      onFatal(error);
      throw error;
    });
  }

  return async (forking, instance) => {
    assertDevChain(role());
    const choice = await chooseFork(config, role().opened.fork, forking, modules);
    await whileIdle(() => begin(choice, instance));
  };
}

/**
 * Opens the chain of `choice` in memory, so that an unusable one fails while the old chain still exists.
 * @returns the opened fork; undefined if it is not a fork
 */
async function rehearse(config: Config, choice: ForkChoice, modules: ForkModules): Promise<Fork | undefined> {
  const fork = await openFork(config, modules, choice);
  if (fork === undefined) return undefined;
  const inMemory = { ...config, devChain: { ...config.devChain, inMemory: true } };
  try {
    openChain(inMemory, modules, { fork }).store.close();
    return fork;
  } catch (error) {
    await fork.close();
    throw error;
  }
}

function isSameBeginning(fork: Fork | undefined, choice: ForkChoice): boolean {
  if (fork === undefined || choice === null) return fork === undefined && choice === null;
  const { point, urls = fork.urls } = choice;
  return fork.base.block.hash === point.hash && fork.urls.join() === urls.join();
}
