import { ProviderRpcError } from "../../adapters/provider.ts";
import { errorDataOf, errorFromData } from "../../rpc/ports/channel/error-data.ts";
import type { ErrorData } from "../../rpc/ports/channel/protocol.ts";
import type { HostOptions, NodeHost, ProviderMessage } from "../provider.ts";

/** Functions of `NodeHost` that a page calls in its worker. */
export type HostCall = {
  [Name in keyof NodeHost]: NodeHost[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof NodeHost];

/** Page to worker. The first one starts the node. */
export type WorkerRequest =
  | { readonly id: number; readonly start: HostOptions }
  | { readonly id: number; readonly call: HostCall; readonly args: readonly unknown[] };

/** Worker to page: a reply, or a notification. */
export type WorkerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: CrossingError }
  | { readonly message: ProviderMessage };

type CrossingError = ErrorData & {
  readonly rpc?: { readonly code: number; readonly data: unknown };
};

export function toCrossingError(error: unknown): CrossingError {
  const data = errorDataOf(error);
  if (!(error instanceof ProviderRpcError)) return data;
  return { ...data, rpc: { code: error.code, data: error.data } };
}

export function fromCrossingError({ rpc, ...data }: CrossingError): Error {
  if (rpc === undefined) return errorFromData(data);
  const cause = data.cause && errorFromData(data.cause);
  return new ProviderRpcError({ ...rpc, message: data.message }, { cause });
}
