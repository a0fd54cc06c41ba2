import { boolean, lenientInteger, optional, string } from "../../transport/codec.ts";
import { aliasMethod } from "../../transport/dispatch/method.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import type { TcpKind } from "../../transport/server/listener.ts";
import { defineMethod } from "../define-method.ts";

const PORT_MAX = 65_535;

/**
 * `admin_startRPC`: opens the HTTP listener. Omitted parameters keep their configured values; lists are comma-separated. The settings file
 * does not change.
 *
 * @throws AdminError when it is open already, or may not be opened there
 */
export const startRpc = defineMethod({
  name: "admin_startRPC",
  params: {
    host: optional(string),
    port: optional(lenientInteger),
    cors: optional(string),
    apis: optional(string),
    vhosts: optional(string),
  },
  result: boolean,
  private: true,
  async handle({ host, port, cors, apis, vhosts }, { node }) {
    await node.startListener({
      kind: "http",
      request: {
        host,
        port: checkedPort(port),
        origins: listOf(cors),
        namespaces: listOf(apis),
        hosts: listOf(vhosts),
      },
    });
    return true;
  },
});

/** `admin_startWS`: opens the WebSocket listener; see `admin_startRPC`. */
export const startWs = defineMethod({
  name: "admin_startWS",
  params: {
    host: optional(string),
    port: optional(lenientInteger),
    allowedOrigins: optional(string),
    apis: optional(string),
  },
  result: boolean,
  private: true,
  async handle({ host, port, allowedOrigins, apis }, { node }) {
    await node.startListener({
      kind: "ws",
      request: {
        host,
        port: checkedPort(port),
        origins: listOf(allowedOrigins),
        namespaces: listOf(apis),
        hosts: undefined,
      },
    });
    return true;
  },
});

/** `admin_stopRPC`: closes the HTTP listener after this call and all running calls have been answered. */
export const stopRpc = stopMethod("admin_stopRPC", "http");

/** `admin_stopWS`: closes the WebSocket listener and disables WebSocket on the HTTP port. */
export const stopWs = stopMethod("admin_stopWS", "ws");

/** geth's names since 1.10. */
export const startHttp = aliasMethod(startRpc, "admin_startHTTP");
export const stopHttp = aliasMethod(stopRpc, "admin_stopHTTP");

function stopMethod(name: string, kind: TcpKind) {
  return defineMethod({
    name,
    params: {},
    result: boolean,
    private: true,
    handle(_params, { node }, context) {
      // The caller may be on the very listener that goes.
      context.afterReply(() => void node.stopListener({ kind }));
      return true;
    },
  });
}

function checkedPort(port: number | undefined): number | undefined {
  if (port !== undefined && port > PORT_MAX) {
    throw new InvalidParamsError(`invalid argument 1: port ${port} out of range`, "port");
  }
  return port;
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
