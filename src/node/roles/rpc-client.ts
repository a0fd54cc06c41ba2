import { toQuantity } from "../../base/primitives/quantity.ts";
import type { RpcMethods } from "../../rpc/method-types.ts";
import type { InProcessProvider } from "../adapters/provider-types.ts";

/**
 * Every method as a function: `rpc.eth_getBalance(address, "latest")`. Bigint parameters, also inside objects, are sent as QUANTITY. An unknown
 * method rejects with code 4200.
 */
export function createRpcClient(provider: Pick<InProcessProvider, "request">): RpcMethods {
  return new Proxy({} as RpcMethods, {
    get(_target, method) {
      // A promise that resolves to the client looks up `then`.
      if (typeof method !== "string" || !method.includes("_")) return undefined;
      return (...params: unknown[]) => provider.request({ method, params: params.map(withoutBigints) });
    },
  });
}

function withoutBigints(value: unknown): unknown {
  if (typeof value === "bigint") return toQuantity(value);
  // An array hole becomes null in JSON, which means "omitted" for optional parameters.
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(withoutBigints);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutBigints(member)]));
}
