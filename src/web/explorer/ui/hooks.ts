import { useEffect, useState } from "preact/hooks";
import type { Hash } from "../../../base/primitives/hash.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { takeNewestBlock } from "./first-block.ts";
import { type Block, call } from "./rpc.ts";

export type Loaded<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown };

const LOADING = { kind: "loading" } as const;

/** undefined while it is loading, and after a failure. */
export function loadedValue<T>(loaded: Loaded<T>): T | undefined {
  return loaded.kind === "ready" ? loaded.value : undefined;
}

/** Running loads of this page. The root element's `data-loading` shows the number to programs that wait for the whole page. */
let loading = 0;

function countLoading(change: 1 | -1): void {
  loading += change;
  document.documentElement.dataset["loading"] = `${loading}`;
}

/** The result of `load`, repeated whenever one of `inputs` changes; the last value stays visible until then. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>(LOADING);
  useEffect(() => {
    let isCurrent = true;
    countLoading(1);
    load()
      .then(
        (value) => isCurrent && setState({ kind: "ready", value }),
        (error) => isCurrent && setState({ kind: "failed", error }),
      )
      .finally(() => countLoading(-1));
    return () => {
      isCurrent = false;
    };
  }, inputs as unknown[]);
  return state;
}

const POLL_MS = 1000;

/** The newest block, requested every second while the page is visible. undefined: none is known yet. */
export function useHead(): { readonly head: Block | undefined; readonly isLost: boolean } {
  const [head, setHead] = useState<Block>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function poll() {
      if (!document.hidden) {
        try {
          const block = await takeNewestBlock();
          if (isCurrent) {
            setHead((last) => (last?.hash === block.hash ? last : block));
            setLost(false);
          }
        } catch {
          if (isCurrent) setLost(true);
        }
      }
      if (isCurrent) timer = setTimeout(() => void poll(), POLL_MS);
    }
    void poll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, []);
  return { head, isLost };
}

/** `/` for a badly encoded address: a link may come from anywhere. */
function routeIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1)) || "/";
  } catch {
    return "/";
  }
}

/** The part of the address after `#`; `/` if it is empty. */
export function useRoute(): string {
  const current = () => routeIn(location.hash);
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const changed = () => setRoute(current());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** A wallet as extensions inject it (EIP-1193). */
type Wallet = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };

const wallet = () => (window as { ethereum?: Wallet }).ethereum;

export function hasWallet(): boolean {
  return wallet() !== undefined;
}

/**
 * Sends a transaction from the wallet's first account; asks a wallet on another chain to switch.
 * @returns the hash
 * @throws errors of the wallet, and Error if it stays on another chain
 */
export async function sendByWallet(transaction: {
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
}): Promise<Hash> {
  const provider = wallet();
  if (provider === undefined) throw new Error("There is no wallet in this browser.");
  const [from] = (await provider.request({ method: "eth_requestAccounts" })) as string[];
  await assertSameChain(provider);
  const params = [{ ...transaction, from, value: toQuantity(transaction.value) }];
  return (await provider.request({ method: "eth_sendTransaction", params })) as Hash;
}

async function assertSameChain(provider: Wallet): Promise<void> {
  const chainId = await call<string>("eth_chainId");
  const walletChainId = async () => Number(await provider.request({ method: "eth_chainId" }));
  if ((await walletChainId()) === Number(chainId)) return;
  const params = [{ chainId }];
  await provider.request({ method: "wallet_switchEthereumChain", params }).catch(() => {});
  const id = await walletChainId();
  if (id === Number(chainId)) return;
  throw new Error(`The wallet is on chain ${id}, this is chain ${Number(chainId)}.`);
}
