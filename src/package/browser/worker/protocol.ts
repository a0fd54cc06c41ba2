import type { ErrorCodec } from "../../../base/threads/channel.ts";
import { type ErrorData, errorDataOf, errorFromData } from "../../../base/threads/plain-data.ts";
import { type ProviderMessage, type ProviderRequest, ProviderRpcError } from "../../../node/adapters/provider-types.ts";
import type { DevAccount } from "../../../node/keystore/dev-accounts.ts";
import type { HostOptions, NodeHost } from "../provider.ts";

/** The worker's functions for its page: those of its node once it has started. */
export type WorkerHandlers = Pick<NodeHost, "produceBlock" | "exportHome" | "takeFile" | "removeFile" | "stop"> & {
  start(options: HostOptions): Promise<readonly DevAccount[]>;
  request(request: ProviderRequest): Promise<unknown>;
  putFile(file: { readonly name: string; readonly content: Uint8Array }): Promise<void>;
};

/** The page's functions for its worker. */
export type PageHandlers = { message(message: ProviderMessage): void };

type ProviderErrorData = ErrorData & {
  readonly rpc?: { readonly code: number; readonly data: unknown };
};

/** Errors of the provider keep their JSON-RPC codes. */
export const PROVIDER_ERRORS: ErrorCodec = {
  toData(error): ProviderErrorData {
    const data = errorDataOf(error);
    if (!(error instanceof ProviderRpcError)) return data;
    return { ...data, rpc: { code: error.code, data: error.data } };
  },
  fromData(crossed: ProviderErrorData) {
    const { rpc, ...data } = crossed;
    if (rpc === undefined) return errorFromData(data);
    const cause = data.cause && errorFromData(data.cause);
    return new ProviderRpcError({ ...rpc, message: data.message }, { cause });
  },
};
