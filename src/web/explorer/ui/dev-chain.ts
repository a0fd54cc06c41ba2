import type { Hash } from "../../../base/primitives/hash.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { useLoaded } from "./hooks.ts";
import { call, callIfOpen } from "./rpc.ts";

/** The node's information on its dev chain; undefined on other chains, and for a page on another port. */
export type DevChain = { readonly chainId: number; readonly accounts: readonly string[] };

let asked: Promise<DevChain | undefined> | undefined;

/** Requested once: a chain does not become a dev chain. */
export function devChain(): Promise<DevChain | undefined> {
  asked ??= (async () => {
    const [metadata, accounts] = await Promise.all([
      callIfOpen<{ readonly chainId: number }>("hardhat_metadata"),
      callIfOpen<readonly string[]>("eth_accounts"),
    ]);
    return metadata && { chainId: metadata.chainId, accounts: accounts ?? [] };
  })();
  // Retries after a failure.
  asked.catch(() => {
    asked = undefined;
  });
  return asked;
}

/** undefined also until the node has answered */
export function useDevChain(): DevChain | undefined {
  const loaded = useLoaded(devChain, []);
  return loaded.kind === "ready" ? loaded.value : undefined;
}

type Sent = { readonly to: string; readonly data: string; readonly value: bigint };

/** Sends from an account that is unlocked in the node. */
export function sendByNode(from: string, { to, data, value }: Sent): Promise<Hash> {
  return call<Hash>("eth_sendTransaction", { from, to, data, value: toQuantity(value) });
}
