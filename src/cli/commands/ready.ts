import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { resolve } from "node:path";
import { isJsonObject } from "../../base/primitives/shape.ts";
import type { Config } from "../../node/config/config.ts";
import { formatHostPort, type HostPort, parseDuration } from "../../node/config/value-types.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import { connect } from "../console/connection.ts";
import type { CliContext } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";

const READY_LIMITS = {
  /** A node whose thread is busy for this long cannot serve; container probes time out after a few seconds. */
  answerMs: 2_000,
  pauseMs: 250,
  /** A reason is a sentence. */
  answerBytes: 64 * 1024,
};

/**
 * Prints the state of the home's running node once it is ready.
 * @param flags.wait how long it may take to become so; without it the node is asked once
 * @throws CommandError with the reason, UsageError
 */
export async function ready(
  config: Config,
  flags: { readonly wait?: string },
  { stdout, timers }: CliContext,
): Promise<void> {
  const waitMs = flags.wait === undefined ? 0 : parseDuration(flags.wait);
  if (waitMs === undefined) throw new UsageError(`--wait: ${flags.wait} is not a duration such as 60s`);
  const ask = wayToAsk(config);
  const until = timers.now() + waitMs;
  for (;;) {
    const { state, reason } = await answerOf(ask);
    if (state?.ready === true) {
      stdout.write(`${JSON.stringify(state)}\n`);
      return;
    }
    if (timers.now() + READY_LIMITS.pauseMs > until) throw new CommandError(`not ready: ${reason}`);
    await timers.sleep(READY_LIMITS.pauseMs);
  }
}

/** One question, which ends with its signal. @throws whatever keeps a node from answering */
type Ask = { readonly target: string; readonly question: (signal: AbortSignal) => Promise<unknown> };

/**
 * The socket of the home where it is not switched off: at an address another node may answer.
 * @throws CommandError where the settings open nothing
 */
function wayToAsk({ home, ipc, jsonRpc, tls, metrics }: Config): Ask {
  if (ipc.path !== "") {
    const target = resolve(home, ipc.path);
    return { target, question: (signal) => askSocket(target, signal) };
  }
  if (jsonRpc.enable) return wayOverHttp(jsonRpc.address, "json-rpc.address", tls.cert !== "");
  if (metrics.enable) return wayOverHttp(metrics.address, "metrics.address", false);
  throw new CommandError(
    "the node has no listener to ask: ipc.path is empty, json-rpc.enable and metrics.enable are false",
  );
}

function wayOverHttp(address: HostPort, key: string, isTls: boolean): Ask {
  if (address.port === 0) {
    throw new CommandError(`${key} uses any free port, which is unknown because ipc.path is empty`);
  }
  const host = LOOPBACK_OF.get(address.host) ?? address.host;
  const target = `${isTls ? "https" : "http"}://${formatHostPort({ host, port: address.port })}`;
  return { target, question: (signal) => askHttp(`${target}/readyz`, signal) };
}

/** Of a listener on all addresses. */
const LOOPBACK_OF: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

async function answerOf({ target, question }: Ask): Promise<{ state?: Readiness; reason?: string }> {
  const signal = AbortSignal.timeout(READY_LIMITS.answerMs);
  let answer: unknown;
  try {
    answer = await question(signal);
  } catch (error) {
    if (signal.aborted) return { reason: `the node at ${target} did not answer within ${READY_LIMITS.answerMs} ms` };
    const { message, cause } = error as Error;
    const { code } = (cause ?? error) as NodeJS.ErrnoException;
    return { reason: code === undefined ? message : `no node answers at ${target} (${code})` };
  }
  const state = readinessOf(answer);
  if (state === undefined) return { reason: `the server at ${target} is not a node` };
  return { state, reason: state.reason ?? "it stops" };
}

/** `admin_readiness` over the IPC socket. */
async function askSocket(path: string, signal: AbortSignal): Promise<unknown> {
  const connection = await connect(path, undefined);
  try {
    return await new Promise((answered, failed) => {
      signal.addEventListener("abort", () => failed(signal.reason));
      connection.request("admin_readiness", []).then(answered, failed);
    });
  } finally {
    connection.close();
  }
}

/** `/readyz`, whose answer is JSON whether the node is ready or not; undefined for any other answer. */
async function askHttp(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await new Promise<IncomingMessage>((answered, failed) => {
    const get = url.startsWith("https:") ? getHttps : getHttp;
    // The request contains no secret, and a node with a self-signed, expired or mismatched certificate may be ready anyway.
    // The node accepts an IP address as the host whatever json-rpc.vhosts is.
    const options = { signal, agent: false, rejectUnauthorized: false, headers: { host: "127.0.0.1" } };
    get(url, options, answered).once("error", failed);
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > READY_LIMITS.answerBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** undefined for anything else. */
function readinessOf(answer: unknown): Readiness | undefined {
  if (!isJsonObject(answer)) return undefined;
  const { ready: isReady, head, reason } = answer;
  if (typeof isReady !== "boolean" || typeof head !== "number" || !Number.isSafeInteger(head) || head < 0) {
    return undefined;
  }
  if (reason === undefined) return { ready: isReady, head };
  return typeof reason === "string" ? { ready: isReady, head, reason } : undefined;
}
