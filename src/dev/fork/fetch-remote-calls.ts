import { setTimeout as sleep } from "node:timers/promises";
import {
  ForkAnswerError,
  ForkArchiveError,
  ForkOfflineError,
  ForkRemoteError,
  ForkRevertError,
} from "./errors.ts";
import type { RemoteCall, RemoteCalls } from "./remote-calls.ts";

/** Calls in one request: providers allow 100 and more. */
const BATCH_MAX = 100;
/** A provider that has not answered by then is asked again, or another one. */
const TIMEOUT_MS = 15_000;
/** Rounds over all addresses, with a pause of twice the last one between them: some eight seconds in all. */
const ROUNDS_MAX = 6;
/** The first pause. */
export const FORK_PAUSE_MS = 250;
/** JSON-RPC codes that ask to try later: geth's, and the HTTP status that some providers put there. */
const BUSY_CODES: readonly unknown[] = [-32005, 429];
const PRUNED_CODE = 4444;
const PRUNED_TEXT =
  /missing trie node|header not found|pruned|archive|historical state|state .*(?:not available|unavailable)|old data not available/i;
const REVERTED_CODE = 3;

export type FetchOptions = {
  /** Addresses of nodes of the remote chain, read for each batch; the next one is asked when one fails. */
  readonly urls: readonly string[];
  readonly pause?: (ms: number) => Promise<unknown>;
};

type RpcError = { readonly code: unknown; readonly message: string; readonly data?: unknown };
type RpcAnswer = { readonly id: number; readonly result?: unknown; readonly error?: RpcError };

/** This attempt failed, and the next one may not. */
class TemporaryError extends Error {}

/** Calls the nodes at `urls` over HTTP, in batches, again after a pause while they are busy or away. */
export function fetchRemoteCalls(options: FetchOptions): RemoteCalls {
  const { pause = sleep } = options;
  async function callBatch(calls: readonly RemoteCall[]): Promise<readonly unknown[]> {
    const { urls } = options;
    if (urls.length === 0) throw new ForkOfflineError();
    let last: unknown;
    let pruned: ForkArchiveError | undefined;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (round > 0) await pause(FORK_PAUSE_MS * 2 ** (round - 1));
      let prunedNodes = 0;
      for (const url of urls) {
        try {
          return resultsOf(await post(url, calls), calls);
        } catch (error) {
          if (error instanceof ForkArchiveError) {
            pruned = error;
            prunedNodes++;
          } else if (!(error instanceof TemporaryError)) throw error;
          last = error;
        }
      }
      if (pruned && prunedNodes === urls.length) throw pruned;
    }
    throw new ForkRemoteError(
      `the remote chain does not answer: ${(last as Error).message}`,
      { method: calls[0]?.method },
      { cause: last },
    );
  }

  return async (calls) => {
    const results: unknown[] = [];
    for (let first = 0; first < calls.length; first += BATCH_MAX) {
      results.push(...(await callBatch(calls.slice(first, first + BATCH_MAX))));
    }
    return results;
  };
}

/** @throws TemporaryError, ForkRemoteError */
async function post(url: string, calls: readonly RemoteCall[]): Promise<readonly RpcAnswer[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch (cause) {
    throw new TemporaryError(`no connection (${(cause as Error).message})`, { cause });
  }
  if (response.status === 429 || response.status >= 500) {
    throw new TemporaryError(`HTTP ${response.status}`);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new ForkRemoteError(`HTTP ${response.status} without JSON`, {}, { cause });
  }
  if (Array.isArray(answer)) return answer as RpcAnswer[];
  const { error } = answer as Partial<RpcAnswer>;
  if (BUSY_CODES.includes(error?.code)) throw new TemporaryError(error!.message);
  throw new ForkRemoteError(`no answer to a batch: ${error?.message ?? text.slice(0, 200)}`);
}

function resultsOf(answers: readonly RpcAnswer[], calls: readonly RemoteCall[]): unknown[] {
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  return calls.map(({ method }, id) => {
    const answer = byId.get(id);
    if (answer === undefined) throw new ForkRemoteError(`no answer to ${method}`, { method });
    const { error } = answer;
    if (error === undefined || error === null) return answer.result;
    const { code, message, data } = error;
    if (BUSY_CODES.includes(code)) throw new TemporaryError(message);
    if (code === PRUNED_CODE || PRUNED_TEXT.test(message)) throw new ForkArchiveError(message);
    if (code === REVERTED_CODE) throw new ForkRevertError(message, { data });
    throw new ForkAnswerError(message, { method, remoteCode: code });
  });
}
