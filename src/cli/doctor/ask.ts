import { resolve } from "node:path";
import { parseRemoteUrl } from "../../base/telemetry/remote-url.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Config } from "../../node/config/config.ts";
import {
  ConnectionFailedError,
  connectToHome,
  parseMessage,
  type RpcConnection,
  resultOf,
} from "../console/connection.ts";
import { CommandError, UsageError } from "../errors.ts";

/** A call of a node's JSON-RPC. @throws ConnectionFailedError, RpcResponseError */
type Ask = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** What its `Date` headers say of the clock of a node, less ours. */
export type ClockDifference = { readonly ms: number; readonly uncertaintyMs: number };

export type AskedNode = {
  /** As it may be shown. */
  readonly name: string;
  readonly ask: Ask;
  /** undefined where the answers had no time. */
  clock(): ClockDifference | undefined;
  close(): void;
};

/** A node that takes longer is of no use to callers either. */
const TIMEOUT_MS = 5_000;
/** A block of 45 million gas with the hashes of its transfers has 150 kilobytes. */
const ANSWER_BYTES_MAX = 4 << 20;
/** `Date` has whole seconds. */
const DATE_MS = 1_000;

type AskTimers = Pick<Timers, "after">;

/** The node that runs on a home; undefined where none answers on its socket. */
export async function askOwnNode(
  config: Pick<Config, "home" | "ipc">,
  timers: AskTimers,
): Promise<AskedNode | undefined> {
  const path = resolve(config.home, config.ipc.path);
  let connection: RpcConnection | undefined;
  try {
    connection = await withTimeout(connectToHome(config), path, timers);
  } catch (error) {
    if (!(error instanceof ConnectionFailedError)) throw error;
  }
  if (connection === undefined) return undefined;
  return {
    name: "this node",
    ask: (method, params = []) => withTimeout(connection.request(method, params), path, timers),
    clock: () => undefined,
    close: () => connection.close(),
  };
}

async function withTimeout<T>(answer: Promise<T>, target: string, timers: AskTimers): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new ConnectionFailedError(`${target} does not answer within ${TIMEOUT_MS / 1_000} s`, { target });
    timer = timers.after(TIMEOUT_MS, "answer of a node", () => reject(error), { keepsAlive: true });
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer?.cancel();
  }
}

/** @param text URL of the JSON-RPC of another node, over HTTP. @throws UsageError */
export function askPeer(text: string, now: () => number = Date.now): AskedNode {
  const remote = parseRemoteUrl(text, ["http", "https"]);
  if (remote === undefined) throw new UsageError("--peer takes the http:// or https:// URL of a node's JSON-RPC");
  const { url, headers, origin } = remote;
  let id = 0;
  let best: ClockDifference | undefined;
  return {
    name: origin,
    async ask(method, params = []) {
      const sent = now();
      try {
        const response = await fetch(url, {
          method: "POST",
          body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }),
          headers: { "content-type": "application/json", ...headers },
          redirect: "error",
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        const difference = differenceOf(response.headers.get("date"), sent, now());
        if (difference && difference.uncertaintyMs < (best?.uncertaintyMs ?? Number.POSITIVE_INFINITY)) {
          best = difference;
        }
        return resultOf(parseMessage(await readText(response), origin));
      } catch (cause) {
        if (cause instanceof Error && "rpcCode" in cause) throw cause;
        throw new ConnectionFailedError(`${origin} does not answer ${method}`, { origin }, { cause });
      }
    },
    clock: () => best,
    close() {},
  };
}

/** @throws CommandError for more than any of the answers takes */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new CommandError("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** @param date of HTTP, when the answer was made: between `sentMs` and `receivedMs` of our clock */
export function differenceOf(date: string | null, sentMs: number, receivedMs: number): ClockDifference | undefined {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return undefined;
  return {
    ms: theirs + DATE_MS / 2 - (sentMs + receivedMs) / 2,
    uncertaintyMs: DATE_MS / 2 + (receivedMs - sentMs) / 2,
  };
}
