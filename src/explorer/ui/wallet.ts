import { toQuantity } from "../../primitives/quantity.ts";
import { call } from "./rpc.ts";

/** A wallet as extensions inject it (EIP-1193). */
type Wallet = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };

const wallet = () => (window as { ethereum?: Wallet }).ethereum;

export function hasWallet(): boolean {
  return wallet() !== undefined;
}

/**
 * Sends a transaction by the wallet's first account; its hash.
 * @throws what the wallet answers, and Error where it is on another chain
 */
export async function sendByWallet(transaction: {
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
}): Promise<string> {
  const provider = wallet();
  if (provider === undefined) throw new Error("There is no wallet in this browser.");
  const [from] = (await provider.request({ method: "eth_requestAccounts" })) as string[];
  const [chainId, walletChainId] = await Promise.all([
    call<string>("eth_chainId"),
    provider.request({ method: "eth_chainId" }) as Promise<string>,
  ]);
  if (Number(chainId) !== Number(walletChainId)) {
    throw new Error(
      `The wallet is on chain ${Number(walletChainId)}, this is chain ${Number(chainId)}.`,
    );
  }
  const params = [{ ...transaction, from, value: toQuantity(transaction.value) }];
  return (await provider.request({ method: "eth_sendTransaction", params })) as string;
}
