import type { Hash } from "../../primitives/hash.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { call } from "./rpc.ts";

/** A wallet as extensions inject it (EIP-1193). */
type Wallet = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };

const wallet = () => (window as { ethereum?: Wallet }).ethereum;

export function hasWallet(): boolean {
  return wallet() !== undefined;
}

/**
 * Sends a transaction by the wallet's first account; its hash. A wallet on another chain is asked to switch.
 * @throws what the wallet answers, and Error where it stays on another chain
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
