import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { LightBlock } from "../../engine.ts";
import {
  type EnginePeer,
  type EngineRound,
  EngineRpcError,
  type EngineStatus,
  objectOf,
  peersOf,
  roundOf,
  statusOf,
  storeBaseOf,
  storeHeightOf,
} from "./answers.ts";
import { type CommitAnswer, lightBlockOf, type ValidatorsAnswer } from "./light-block.ts";

/** Address of a CometBFT RPC: a unix socket, or an `http:` or `https:` URL. */
export type EngineRpcAddress = { readonly socketPath: string } | { readonly url: URL };

type EngineCallLimits = {
  /** Time limit of the whole answer, even if it arrives byte by byte. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
};

/**
 * Parses an RPC address in the form of CometBFT's configuration: `host:port`, optionally after `tcp://`, `http://` or `https://`, or
 * `unix:///path`. undefined for other text.
 */
export function parseRpcAddress(text: string): EngineRpcAddress | undefined {
  const end = text.indexOf("://");
  const [scheme, rest] = end < 0 ? ["tcp", text] : [text.slice(0, end), text.slice(end + 3)];
  if (scheme === "unix") return rest.startsWith("/") ? { socketPath: rest } : undefined;
  if (!["tcp", "http", "https"].includes(scheme)) return undefined;
  try {
    return { url: new URL(`${scheme === "https" ? "https" : "http"}://${rest}`) };
  } catch {
    return undefined;
  }
}

/**
 * Calls a method of CometBFT's RPC. Redirects are not followed.
 * @returns the result, unchecked
 * @throws EngineRpcError
 */
export async function callEngine(
  address: EngineRpcAddress,
  { method, params }: { readonly method: string; readonly params: object },
  limits: EngineCallLimits,
  timers: Pick<Timers, "after">,
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  let answer: unknown;
  try {
    answer = JSON.parse(await post(address, body, limits, timers));
  } catch (cause) {
    throw new EngineRpcError(`CometBFT does not answer ${method}`, { method }, { cause });
  }
  const { result, error } = objectOf(answer);
  if (error !== undefined) {
    const { message, data } = objectOf(error);
    const text = [data, message].find((each) => typeof each === "string" && each !== "");
    throw new EngineRpcError(`CometBFT: ${(text as string) ?? "an error"}`.slice(0, 300), {
      method,
    });
  }
  return result;
}

function post(
  address: EngineRpcAddress,
  body: string,
  { timeoutMs, bytesMax }: EngineCallLimits,
  timers: Pick<Timers, "after">,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    };
    const onAnswer = (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bytesMax) outgoing.destroy(new Error("answer is too large"));
        else chunks.push(chunk);
      });
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
      response.on("error", reject);
    };
    const outgoing =
      "url" in address
        ? (address.url.protocol === "https:" ? requestHttps : requestHttp)(address.url, options, onAnswer)
        : requestHttp({ ...options, path: "/", socketPath: address.socketPath }, onAnswer);
    outgoing.on("error", reject);
    outgoing.end(body);
    const fail = () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`));
    const timer = timers.after(timeoutMs, "answer of CometBFT", fail);
    outgoing.on("close", () => timer.cancel());
  });
}

/** Requests to CometBFT's RPC for data that ABCI does not provide. */
export type EngineRpc = {
  status(): Promise<EngineStatus>;
  peers(): Promise<readonly EnginePeer[]>;
  round(): Promise<EngineRound>;
  /** Height of the newest block in its store, or in a store that `cometbft inspect` serves. */
  storeHeight(): Promise<number>;
  /** Height of the first block in its non-empty store, or in one that `cometbft inspect` serves. */
  storeBase(): Promise<number>;
  /** undefined until `height` is decided. @throws EngineRpcError for a height that CometBFT does not have */
  lightBlock(height: number): Promise<LightBlock | undefined>;
  /**
   * Connects to each `id@host:port` until CometBFT restarts: persistent peers are redialed whenever the connection is lost, and unconditional
   * ones do not count as peers. `peers` replaces the previous persistent peers.
   */
  dial(peers: readonly string[], kind: "persistent" | "unconditional"): Promise<void>;
};

/** A CometBFT that takes longer is down: it runs on this machine. */
const TIMEOUT_MS = 3_000;
/** CometBFT's maximum page size. */
const VALIDATORS_PER_PAGE = 100;
/** CometBFT allows 10,000 validators. */
const VALIDATOR_PAGES_MAX = 100;
/** CometBFT's answers about peers and status take a few kilobytes. */
const ANSWER_BYTES_MAX = 8 << 20;

/** @param socket path of CometBFT's RPC, a unix socket */
export function createEngineRpc(socket: string, timers: Pick<Timers, "after">): EngineRpc {
  const limits = { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX };
  const call = (method: string, params: object = {}) =>
    callEngine({ socketPath: socket }, { method, params }, limits, timers);

  /** All validators of a height, page by page. */
  async function validatorsAt(height: string): Promise<ValidatorsAnswer["validators"]> {
    const validators: ValidatorsAnswer["validators"][number][] = [];
    for (let page = 1; page <= VALIDATOR_PAGES_MAX; page++) {
      const position = { page: String(page), per_page: String(VALIDATORS_PER_PAGE) };
      const answer = objectOf(await call("validators", { height, ...position }));
      const { validators: found, total } = answer as ValidatorsAnswer;
      if (!Array.isArray(found) || found.length === 0) break;
      validators.push(...found);
      if (validators.length >= Number(total)) return validators;
    }
    throw new EngineRpcError("CometBFT did not return all validators", { height });
  }

  return {
    async lightBlock(number) {
      if (statusOf(await call("status")).latestHeight < number) return undefined;
      const height = String(number);
      const [commit, validators] = await Promise.all([call("commit", { height }), validatorsAt(height)]);
      try {
        return lightBlockOf(commit as CommitAnswer, validators);
      } catch (cause) {
        throw new EngineRpcError("CometBFT's light block is malformed", { height }, { cause });
      }
    },
    status: async () => statusOf(await call("status")),
    peers: async () => peersOf(await call("net_info")),
    round: async () => roundOf(await call("consensus_state")),
    storeHeight: async () => storeHeightOf(await call("blockchain")),
    async storeBase() {
      try {
        await call("blockchain", { minHeight: "1", maxHeight: "1" });
        return 1;
      } catch (error) {
        const base = error instanceof EngineRpcError ? storeBaseOf(error.message) : undefined;
        if (base === undefined) throw error;
        return base;
      }
    },
    async dial(peers, kind) {
      await call("dial_peers", {
        peers,
        persistent: kind === "persistent",
        unconditional: kind === "unconditional",
        private: false,
      });
    },
  };
}
