import type { Address } from "../../base/primitives/address.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import { decodeTransaction } from "../../base/types/transaction/decode.ts";
import { impersonatedSender } from "../../base/types/transaction/impersonation.ts";
import type { StatePatches } from "../../chain/reader.ts";
import type { DevChain } from "../../dev/dev-chain.ts";
import { DevControlError } from "../../dev/dev-settings.ts";
import { dumpChain } from "../../dev/state-dump.ts";
import type { DevPort } from "../../rpc/ports/dev.ts";
import type { ChainParts, PoolParts } from "./parts.ts";

/** The state that callers may change on a dev chain besides sending transactions. */
export type DevParts = {
  /** Undefined if dev methods are not available. */
  readonly devChain: DevChain | undefined;
  /** Changes that callers made by hand. */
  readonly patches: StatePatches | undefined;
};

/** @throws DevControlError on a chain that is not a dev chain */
export function assertDevChain({ devChain }: Pick<DevParts, "devChain">): DevChain {
  if (devChain !== undefined) return devChain;
  throw new DevControlError("dev methods need a dev chain with the solo engine and json-rpc.processes = 0");
}

/** The accounts that may exist in the newest state. */
export function accountAddresses({
  chain,
  store,
  patches,
}: Pick<ChainParts, "chain" | "store"> & Pick<DevParts, "patches">): Set<Address> {
  const { number } = chain.head().block.header;
  const patched = patches?.at(number)?.accounts ?? [];
  return new Set([...store.addresses(), ...patched.map(({ address }) => address)]);
}

export function createDevPort(
  modules: DevParts & {
    readonly core: Pick<ChainParts, "chain" | "store">;
    readonly mempool: PoolParts["mempool"];
    readonly timers: Pick<Timers, "now" | "deferred">;
  },
): Omit<DevPort, "reset" | "setForkUrl" | "loadState"> {
  const { chain, store } = modules.core;
  const dev = () => assertDevChain(modules);
  const slices = new SharedSlices(modules.timers);

  const addresses = () => accountAddresses({ chain, store, patches: modules.patches });

  return {
    settings: () => dev().settings,
    configure: (changes) => dev().configure(changes),
    setChainId: ({ chainId }) => dev().setChainId(chainId),
    setNextBlock: (next) => dev().setNextBlock(next),
    increaseTime: ({ seconds }) => dev().increaseTime(seconds),
    setTime: ({ timestamp }) => dev().setTime(timestamp),
    edit: ({ edits }) => dev().edit(edits),
    mine: async (request) => dev().mine(request),
    snapshot: () => dev().snapshot(),
    snapshots: () => dev().snapshots(),
    revert: async ({ id }) => dev().revert(id),
    rollback: async ({ depth }) => dev().rollback(depth),
    reorg: async ({ depth, transactions }) => dev().reorg(depth, transactions),
    impersonate({ address, isOn }) {
      const others = (dev().settings.impersonated ?? []).filter((other) => other !== address);
      dev().configure({ impersonated: isOn ? [...others, address] : others });
    },
    submitUnsigned({ raw }) {
      const tx = decodeTransaction(raw);
      const sender = impersonatedSender(tx);
      if (sender === undefined) throw new DevControlError("the transaction is signed");
      modules.mempool.add(dev().admit({ tx, sender }));
      return tx.hash;
    },
    drop: ({ hash }) => dev().drop(hash),
    dropAll: ({ sender }) => dev().dropAll(sender && ((other) => other === sender)),
    dumpState() {
      dev();
      return dumpChain(addresses(), chain, slices);
    },
  };
}
