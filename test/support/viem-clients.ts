import { createPublicClient, createWalletClient, defineChain, http, type PublicClient, type Transport } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_KEYS } from "./accounts.ts";
import type { TestNode } from "./test-node.ts";

/** viem's clients of a dev node, the wallet with the first dev account; they poll every 20 ms. */
export function viemClients(
  { url }: TestNode,
  transport: Transport = http(url),
  walletTransport: Transport = transport,
) {
  const chain = defineChain({
    id: 31337,
    name: "evmint",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const account = privateKeyToAccount(DEV_KEYS[0]);
  const shared = { chain, pollingInterval: 20 };
  return {
    reader: createPublicClient({ ...shared, transport }) as PublicClient,
    wallet: createWalletClient({ ...shared, transport: walletTransport, account }),
  };
}
