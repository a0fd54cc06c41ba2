import { connect } from "node:net";
import { WebSocket } from "ws";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { type JwtClaims, signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { sendHttp } from "./rpc/rpc-client.ts";

/** What came back for one call, whichever way it went. */
export type Answer = {
  /** Of HTTP; 0 elsewhere. */
  readonly status: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
};

export const request = (method: string, params: readonly unknown[] = []): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

/** Headers with a token of the node in `home`, good for a minute unless `claims` say otherwise. */
export function bearer(home: string, claims: Partial<JwtClaims> = {}) {
  const iat = Math.floor(Date.now() / 1000);
  return { authorization: `Bearer ${signJwt({ iat, ...claims }, readJwtSecret(home))}` };
}

export async function overHttp(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { status, json } = await sendHttp(url, request(method, params), headers);
  return { status, result: json?.result, error: json?.error };
}

/** @throws when the upgrade is refused, with the status in the message */
export async function openWs(url: string, headers: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  const ws = new WebSocket(url.replace(/^http/, "ws"), { headers });
  await new Promise((resolve, reject) => {
    ws.once("open", resolve);
    ws.once("error", reject);
  });
  return ws;
}

/** One call on a new connection. */
export async function overWs(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const ws = await openWs(url, headers);
  try {
    const text = await new Promise<string>((resolve, reject) => {
      ws.once("message", (message) => resolve(message.toString()));
      ws.once("close", () => reject(new Error("closed without an answer")));
      ws.send(request(method, params));
    });
    const { result, error } = JSON.parse(text);
    return { status: 0, result, error };
  } finally {
    ws.terminate();
  }
}

/** One call on a new connection. */
export function overIpc(path: string, method: string, params: readonly unknown[] = []): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(path, () => socket.write(request(method, params)));
    socket.on("data", (chunk) => {
      text += chunk;
      if (!text.endsWith("\n")) return;
      const { result, error } = JSON.parse(text);
      resolve({ status: 0, result, error });
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
