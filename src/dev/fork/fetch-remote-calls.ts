import { NodeError } from "../../base/errors.ts";
import { parseRemoteUrl, type RemoteUrl } from "../../base/telemetry/remote-url.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { ForkArchiveError, ForkOfflineError, ForkProofError, ForkRemoteError, ForkRevertError } from "./errors.ts";
import { type RemoteCall, type RemoteCalls, type ResultCheck, resultsOfBatch, TemporaryError } from "./remote-calls.ts";
import { ANSWER_LIMITS, type JsonLimits, readJson } from "./remote-json.ts";
import { answerBytesMax, type PlanReads, planPlainReads } from "./remote-results.ts";

/** How a node of the remote chain is reached, taken from the address that an operator gave. */
type RemoteEndpoint = Pick<RemoteUrl, "url" | "headers"> & {
  /** For people: see `remoteName`. */
  readonly name: string;
};

/** @throws ForkRemoteError if `text` is not an HTTP URL; the error omits the text, because it may contain a key */
export function remoteEndpoint(text: string): RemoteEndpoint {
  const remote = httpUrl(text);
  if (remote === undefined) throw new ForkRemoteError("the address of a remote node is no HTTP URL");
  const { url, headers } = remote;
  return { url, headers, name: nameOf(remote) };
}

/** `text`, the address of a node, without what providers put keys into: path, query, user and password. */
export function remoteName(text: string): string {
  const remote = httpUrl(text);
  return remote === undefined ? "an address that is no HTTP URL" : nameOf(remote);
}

function httpUrl(text: string): RemoteUrl | undefined {
  return parseRemoteUrl(text, ["http", "https"]);
}

function nameOf({ url, origin }: RemoteUrl): string {
  const { pathname, search } = new URL(url);
  return `${origin}${pathname === "/" && search === "" ? "" : "/…"}`;
}

/** How the nodes of a remote chain are asked, where their operator or ours has wishes. */
export type RemoteAccess = {
  /** A key, mostly. */
  readonly headers: Readonly<Record<string, string>>;
  /** Addresses that get them: a caller can name others, which are to learn no key. */
  readonly headersFor: readonly string[];
  /** Replaces TIMEOUT_MS. */
  readonly timeoutMs?: number | undefined;
  /** Rounds over all addresses after the first one; replaces ROUNDS_MAX - 1. */
  readonly retries?: number | undefined;
  /** Replaces FORK_PAUSE_MS. */
  readonly pauseMs?: number | undefined;
  /** Of providers that count so; a call is COMPUTE_UNITS_PER_CALL of them. */
  readonly computeUnitsPerSecond?: number | undefined;
};

export const PLAIN_ACCESS: RemoteAccess = { headers: {}, headersFor: [] };

/** What anvil takes for the average of a call. */
const COMPUTE_UNITS_PER_CALL = 17;

/** Calls in one request: providers allow 100 and more. */
const BATCH_MAX = 100;
/** A provider that has not answered by then is asked again, or another one. */
const TIMEOUT_MS = 15_000;
/** All rounds of all batches together: longer than a provider that limits its callers makes them wait. */
const CALLS_MS_MAX = 60_000;
/** Rounds over all addresses, with a pause of twice the last one between them: some eight seconds in all. */
const ROUNDS_MAX = 6;
/** The first pause. */
export const FORK_PAUSE_MS = 250;

type FetchOptions = {
  /** Addresses of nodes of the remote chain, read for each batch; the next one is asked when one fails. */
  readonly urls: readonly string[];
  readonly access?: RemoteAccess | undefined;
  /** How state is read; each value by its own call if not given. */
  readonly planReads?: PlanReads;
  /** The nodes have never answered, so a refused connection suggests a wrong address: they are asked only twice. */
  readonly isFirstContact?: boolean;
};

/** Codes of connections to an address where nothing is. */
const REFUSED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND"]);
const REFUSED_ROUNDS_MAX = 2;

type FetchTimers = Pick<Timers, "now" | "sleep">;

type Batch = {
  readonly reads: readonly RemoteCall[];
  readonly check: ResultCheck | undefined;
  /** of `Timers.now` */
  readonly deadline: number;
};

/**
 * Calls the nodes at `urls` over HTTP, in batches, again after a pause while they are busy or away. What a node answers counts only when all of the batch is as
 * it must be; else the next node is asked.
 */
export function fetchRemoteCalls(options: FetchOptions, timers: FetchTimers): RemoteCalls {
  const { planReads = planPlainReads, access = PLAIN_ACCESS } = options;
  const { timeoutMs = TIMEOUT_MS, retries = ROUNDS_MAX - 1, pauseMs = FORK_PAUSE_MS } = access;
  const pace = createPace(access, timers);

  async function callBatch(batch: Batch): Promise<readonly unknown[]> {
    const { urls } = options;
    if (urls.length === 0) throw new ForkOfflineError();
    let last: unknown;
    let isRefused = access.retries === undefined && options.isFirstContact === true;
    for (let round = 0; round <= retries; round++) {
      if (isRefused && round === REFUSED_ROUNDS_MAX) break;
      if (round > 0) await timers.sleep(pauseMs * 2 ** (round - 1));
      const failures: NodeError[] = [];
      for (const url of urls) {
        if (timers.now() >= batch.deadline) throw noAnswer(batch, last);
        try {
          const endpoint = remoteEndpoint(url);
          const given = access.headersFor.includes(url) ? access.headers : {};
          return await ask({ ...endpoint, headers: { ...given, ...endpoint.headers } }, batch);
        } catch (error) {
          if (error instanceof NodeError) failures.push(error);
          else if (!(error instanceof TemporaryError)) throw error;
          // Every node of the chain would say the same.
          if (error instanceof ForkRevertError) throw error;
          last = error;
          isRefused &&= REFUSED.has(codeOf((error as Error).cause));
        }
      }
      // An unreachable node may have the state that the others lack; the others would repeat their answers.
      const isFinal = failures.some((error) => !(error instanceof ForkArchiveError));
      if (isFinal || failures.length === urls.length) throw worstOf(failures);
    }
    throw noAnswer(batch, last);
  }

  async function ask(endpoint: RemoteEndpoint, batch: Batch): Promise<readonly unknown[]> {
    const { reads, check, deadline } = batch;
    const plan = planReads(reads);
    await pace(plan.calls.length);
    const msLeft = Math.max(1, Math.ceil(deadline - timers.now()));
    const answer = await post(endpoint, plan.calls, Math.min(timeoutMs, msLeft));
    try {
      const results = plan.resultsOf(resultsOfBatch(answer, plan.calls));
      return check === undefined ? results : results.map((each, i) => check(reads[i]!, each));
    } catch (error) {
      throw named(error, endpoint);
    }
  }

  /** As many of `reads` as are one request. */
  function firstBatch(reads: readonly RemoteCall[]): readonly RemoteCall[] {
    let batch = reads.slice(0, BATCH_MAX);
    // A plan may need more calls than there are reads, but never more than two for one.
    if (planReads(batch).calls.length > BATCH_MAX) batch = batch.slice(0, BATCH_MAX / 2);
    return batch;
  }

  return async (calls, { check, msMax = CALLS_MS_MAX } = {}) => {
    const deadline = timers.now() + msMax;
    const results: unknown[] = [];
    while (results.length < calls.length) {
      const reads = firstBatch(calls.slice(results.length));
      results.push(...(await callBatch({ reads, check, deadline })));
    }
    return results;
  };
}

/** Waits until so many calls more are within the compute units of a second. */
function createPace({ computeUnitsPerSecond }: RemoteAccess, timers: FetchTimers) {
  let free = 0;
  return async (calls: number): Promise<void> => {
    if (computeUnitsPerSecond === undefined) return;
    const now = timers.now();
    const wait = free - now;
    free = Math.max(free, now) + (1_000 * COMPUTE_UNITS_PER_CALL * calls) / computeUnitsPerSecond;
    if (wait > 0) await timers.sleep(wait);
  };
}

/** @throws TemporaryError, ForkRemoteError */
async function post(
  { url, headers, name }: RemoteEndpoint,
  calls: readonly RemoteCall[],
  timeoutMs: number,
): Promise<unknown> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const request: RequestInit = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept-encoding": "identity",
      ...headers,
    },
    body: JSON.stringify(body),
    // Elsewhere may be a program that only this machine can reach.
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  };
  try {
    const response = await fetch(url, request);
    const { status } = response;
    if (status === 429 || status >= 500) {
      await response.body?.cancel();
      throw new TemporaryError(`${name}: HTTP ${status}`);
    }
    return await readJson(response, limitsOf(calls));
  } catch (error) {
    if (error instanceof TemporaryError) throw error;
    if (error instanceof NodeError) throw named(error, { name });
    throw new TemporaryError(`${name}: no connection (${reasonOf(error)})`, { cause: error });
  }
}

/** Of the answer to a batch: what its calls need, and never more than any answer may take. */
function limitsOf(calls: readonly RemoteCall[]): JsonLimits {
  const bytes = calls.reduce((sum, call) => sum + answerBytesMax(call), 0);
  return { ...ANSWER_LIMITS, bytes: Math.min(bytes, ANSWER_LIMITS.bytes) };
}

/** Of a failed `fetch`: the code that the operating system gave, else its kind. */
function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error as Error).name;
}

/** Of a failed `fetch`, which names the attempts for each address of a host as one. */
function codeOf(error: unknown): string | undefined {
  return ((error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code;
}

/** `error` with its node; a caller's mistake says nothing about the node. */
function named(error: unknown, { name }: Pick<RemoteEndpoint, "name">): unknown {
  if (error instanceof TemporaryError) return new TemporaryError(`${name}: ${error.message}`);
  const details = error instanceof NodeError ? { ...error.details, remote: name } : {};
  const text = `${name}: ${(error as Error).message}`;
  if (error instanceof ForkProofError) return new ForkProofError(text, details, { cause: error });
  if (error instanceof ForkRemoteError) return new ForkRemoteError(text, details, { cause: error });
  return error;
}

/** A wrong answer outranks a missing one, and missing state outranks other failures. */
function worstOf(failures: readonly NodeError[]): NodeError {
  return (
    failures.find((error) => error instanceof ForkProofError) ??
    failures.find((error) => error instanceof ForkArchiveError) ??
    failures.at(-1)!
  );
}

function noAnswer({ reads }: Batch, last: unknown): ForkRemoteError {
  const reason = last === undefined ? "no time is left" : (last as Error).message;
  return new ForkRemoteError(
    `the remote chain does not answer: ${reason}`,
    { method: reads[0]?.method },
    { cause: last },
  );
}
