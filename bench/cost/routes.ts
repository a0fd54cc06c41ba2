import type { Attack } from "./node-under-audit.ts";
import type { World } from "./world.ts";

/** What a caller may ask for beside JSON-RPC, at its dearest. */
export function routes({ addresses, transactionHashes }: World): Readonly<Record<string, readonly Attack[]>> {
  const api = (query: string): Attack => ({ path: `/api?${query}` });
  const ofEach = (query: string): readonly Attack[] => addresses.map((address) => api(`${query}&address=${address}`));
  const paths = (...names: readonly string[]): readonly Attack[] => names.map((path) => ({ path }));
  return {
    "GET /": paths("/"),
    "GET /healthz": paths("/healthz"),
    "GET /readyz": paths("/readyz"),
    "GET /metrics": paths("/metrics"),
    "GET /openrpc.json": paths("/openrpc.json"),
    "GET /explorer/": paths("/explorer/", "/explorer/index.html"),
    "GET /docs/": paths("/docs/", "/docs/search.json", `/docs/${"a/".repeat(4000)}`),
    "GET /api account txlist": ofEach("module=account&action=txlist&page=1&offset=1000"),
    "GET /api account balance": ofEach("module=account&action=balance"),
    "GET /api contract getabi": ofEach("module=contract&action=getabi"),
    "GET /api contract getsourcecode": ofEach("module=contract&action=getsourcecode"),
    "GET /api contract getcontractcreation": [
      api(`module=contract&action=getcontractcreation&contractaddresses=${addresses.slice(0, 5).join(",")}`),
    ],
    "GET of a long path": paths(`/${"x".repeat(7000)}`, `/api?${"a=b&".repeat(1700)}`),
    "GET /explorer/tx": paths(`/explorer/tx/${transactionHashes[0]}`),
  };
}
