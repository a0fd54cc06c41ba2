import {
  createPublicClient,
  createWalletClient,
  defineChain,
  type HttpTransportConfig,
  http,
  type PublicClient,
  type Transport,
  webSocket,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_KEYS } from "./accounts.ts";
import type { TestNode } from "./test-node.ts";
import { HANG_MS } from "./until.ts";

/** viem gives a request 10 seconds, which a busy machine can need; these wait until only a hang is left. */
export const patientHttp = (url: string, options: HttpTransportConfig = {}): Transport =>
  http(url, { timeout: HANG_MS, ...options });
export const patientWebSocket = (url: string): Transport => webSocket(url, { timeout: HANG_MS });

/** viem's clients of a dev node, the wallet with the first dev account; they poll every 20 ms. */
export function viemClients(
  { url }: TestNode,
  transport: Transport = patientHttp(url),
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
