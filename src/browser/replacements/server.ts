import type { RpcServer, RpcServerOptions } from "../../rpc/transport/server/server.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** A page accepts no connections: programs in it talk to the provider. @throws UnsupportedInBrowserError */
export async function startRpcServer({ http, ws, ipc }: RpcServerOptions): Promise<RpcServer> {
  if (http ?? ws ?? ipc) throw new UnsupportedInBrowserError("a listener");
  return {
    urls: {},
    open: async (kind) => {
      throw new UnsupportedInBrowserError(`a listener of ${kind}`);
    },
    async shut() {},
    accept(kind) {
      throw new UnsupportedInBrowserError(`a listener of ${kind}`);
    },
    async close() {},
  };
}
