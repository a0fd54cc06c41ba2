import { type DiscoverModules, documentOfListener } from "../rpc/methods/rpc/methods.ts";
import type { AccessPolicy } from "../rpc/transport/dispatch/context.ts";
import type { OtherRequest } from "../rpc/transport/server/http-request.ts";
import { JSON_TYPE, sendText } from "./health.ts";

/**
 * Answers `/openrpc.json` with what `rpc_discover` answers at the same listener; false for any other request. The text is made
 * once for each listener.
 */
export function createOpenRpcFile(modules: DiscoverModules): OtherRequest {
  const texts = new WeakMap<AccessPolicy, Promise<string>>();
  function textOf(access: AccessPolicy): Promise<string> {
    const known = texts.get(access);
    if (known !== undefined) return known;
    const text = (async () => JSON.stringify(await documentOfListener(access, modules)))();
    texts.set(access, text);
    return text;
  }
  return (request, response, access) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    if (request.url?.split("?", 1)[0] !== "/openrpc.json") return false;
    textOf(access).then(
      (text) => sendText(request, response, 200, JSON_TYPE, text),
      () => {
        texts.delete(access);
        response.destroy();
      },
    );
    return true;
  };
}
