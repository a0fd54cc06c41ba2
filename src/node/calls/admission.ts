import type { Hash } from "../../base/primitives/hash.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import type { CallArguments } from "../../evm/execution/call/call-arguments.ts";
import { ExecutionTimeoutError } from "../../evm/execution/call/call-errors.ts";
import { TraceTooLargeError, TracingTimeoutError } from "../../evm/tracing/trace-budget.ts";
import { type AnyMethod, methodsOf, type PortMethod } from "../../rpc/ports/declarations.ts";
import type { ExecutionReads, TraceRequest } from "../../rpc/ports/execution.ts";
import { createExecutionReads, type ExecutionCore } from "../adapters/execution-port.ts";
import type { CallLimits, LimitedReads } from "../adapters/rpc-settings.ts";
import type { ExecutionThreads } from "./execution-threads.ts";
import type { PendingBlockData } from "./following-execution.ts";
import { LongCalls } from "./long-calls.ts";

/**
 * How long a call runs on the chain's thread before it moves to another. Nearly all calls of wallets end within a tenth of it (balanceOf: 53
 * µs), sooner than another thread could answer.
 */
const FIRST_TRY_MS = 2;
/** The limit while all other threads are busy: a short call should not wait for calls that run for seconds. */
const FIRST_TRY_BUSY_MS = 3;
/** The limit while no other thread runs: a thread takes about 300 ms to start. */
const FIRST_TRY_ALONE_MS = 50;
/** Trace text written here. A larger trace is written again in a thread, and would fill the memory of both. */
const FIRST_TRY_BYTES = 4 << 20;
/**
 * A thread starts once calls longer than FIRST_TRY_MS have taken this much time: more than the first calls of a new process, whose code V8 has
 * not compiled yet.
 */
const SLOW_MS_MAX = 200;
/** Gas that must execute before the traced transaction, which no deadline interrupts: about 15 ms at 60 ns per gas. */
const FIRST_TRY_BLOCK_GAS_MAX = 250_000n;

/** Errors that end the first try but not the request. */
const TOO_MUCH_FOR_A_TRY = [ExecutionTimeoutError, TracingTimeoutError, TraceTooLargeError];

type ReadName = keyof ExecutionReads;

/** The members of `ExecutionReads` inputs that declarations refer to. */
type ExecutionInput = {
  readonly at?: unknown;
  readonly hash?: Hash;
  readonly args?: CallArguments;
  readonly request?: TraceRequest & { readonly txIndex?: number };
  readonly cancel?: CancelToken | undefined;
};

type AdmissionModules = {
  readonly suggestTip: () => bigint;
  readonly threads: ExecutionThreads;
  /** True while the other threads lack part of the state. */
  readonly isLocal: () => boolean;
};

/** `ExecutionReads` that keeps the chain's thread free: long calls run in `threads`. */
export function admittedExecution(limits: CallLimits, core: ExecutionCore, modules: AdmissionModules): ExecutionReads {
  const admission = new Admission(limits, core, modules);
  const methods = methodsOf("execution").flatMap(([name, facts]) => {
    if (!facts.follows) return [];
    const method: AnyMethod = (input) => admission.run(name as ReadName, facts, input as ExecutionInput);
    return [[name, method]];
  });
  return Object.fromEntries(methods) as ExecutionReads;
}

/** Decides for each call which thread runs it. */
class Admission {
  readonly #limits: CallLimits;
  readonly #reader: ExecutionCore["reader"];
  readonly #modules: AdmissionModules;
  readonly #here: LimitedReads;
  readonly #tryLimits: CallLimits;
  readonly #tryBusyLimits: CallLimits;
  readonly #tryAloneLimits: CallLimits;
  readonly #longCalls = new LongCalls(() => performance.now());
  /** Time spent in calls on this thread while no other runs. */
  #slowMs = 0;

  constructor(limits: CallLimits, core: ExecutionCore, modules: AdmissionModules) {
    this.#limits = limits;
    this.#reader = core.reader;
    this.#modules = modules;
    this.#here = createExecutionReads(limits, core, modules.suggestTip);
    this.#tryLimits = tryLimits(limits, FIRST_TRY_MS);
    this.#tryBusyLimits = tryLimits(limits, FIRST_TRY_BUSY_MS);
    this.#tryAloneLimits = tryLimits(limits, FIRST_TRY_ALONE_MS);
  }

  run(name: ReadName, facts: PortMethod, input: ExecutionInput): unknown {
    const { threads, isLocal } = this.#modules;
    if (isLocal()) return this.#execute(name, input, this.#limits);
    const timeoutMs = this.#timeoutOf(facts, input);
    // A deadline shorter than the first try must be the request's own.
    const isShort = timeoutMs > 0 && timeoutMs <= FIRST_TRY_ALONE_MS;
    // The answer is large: the answering thread would only write it again.
    const showsMemory = threads.pool.isReady && input.request?.enableMemory === true;
    const isLong = threads.pool.isReady && this.#longCalls.has(name, input.args);
    if (isShort || showsMemory || isLong || !this.#isInterrupted(facts, input)) {
      return this.#inThread(name, input, timeoutMs);
    }
    try {
      return this.#tryHere(name, input);
    } catch (error) {
      if (TOO_MUCH_FOR_A_TRY.some((kind) => error instanceof kind)) {
        return this.#inThread(name, input, timeoutMs);
      }
      throw error;
    }
  }

  #execute(name: ReadName, input: ExecutionInput, limits: CallLimits): unknown {
    const read = this.#here[name] as (input: ExecutionInput, limits: CallLimits) => unknown;
    return read(input, limits);
  }

  #tryHere(name: ReadName, input: ExecutionInput): unknown {
    const { threads } = this.#modules;
    if (threads.pool.isReady) {
      const limits = threads.pool.isSaturated ? this.#tryBusyLimits : this.#tryLimits;
      return this.#execute(name, input, limits);
    }
    const start = performance.now();
    try {
      return this.#execute(name, input, this.#tryAloneLimits);
    } finally {
      const elapsed = performance.now() - start;
      if (elapsed > FIRST_TRY_MS) this.#slowMs += elapsed;
      if (this.#slowMs > SLOW_MS_MAX) {
        this.#slowMs = 0;
        threads.pool.warmUp();
      }
    }
  }

  #inThread(method: ReadName, { cancel, ...input }: ExecutionInput, timeoutMs: number): unknown {
    const pending = input.at === "pending" ? this.#pendingData() : undefined;
    const noteTime = (ms: number) => this.#longCalls.note(method, input.args, ms);
    return this.#modules.threads.run(
      { method, input: plainData(input), ...(pending && { pending }) },
      { timeoutMs, cancel, noteTime },
    );
  }

  /** Whether a deadline interrupts the request everywhere, so that the chain's thread may try it. */
  #isInterrupted({ uninterrupted }: PortMethod, { at, hash, request }: ExecutionInput): boolean {
    switch (uninterrupted) {
      case "all":
        return false;
      case "txIndex":
        return request?.txIndex === undefined;
      case "block": {
        const number = hash === undefined ? this.#numberOf(at) : this.#reader.transactionPosition(hash)?.number;
        return this.#isLightBlock(number);
      }
      default:
        return true;
    }
  }

  #numberOf(at: unknown): number | undefined {
    return typeof at === "number" ? at : this.#reader.numberOf(at as Hash);
  }

  #isLightBlock(number: number | undefined): boolean {
    const header = number === undefined ? undefined : this.#reader.header(number);
    return header === undefined || header.gasUsed <= FIRST_TRY_BLOCK_GAS_MAX;
  }

  /** The deadline that the execution itself observes; 0: none. */
  #timeoutOf({ heavy }: PortMethod, { request }: ExecutionInput): number {
    const { timeoutMs, trace } = this.#limits;
    if (heavy !== "trace") return timeoutMs;
    return Math.min(request?.timeoutMs ?? trace.timeoutMs, trace.timeoutMsMax);
  }

  #pendingData(): PendingBlockData | undefined {
    const block = this.#reader.pending();
    if (block === undefined) return undefined;
    const { executed, changes } = block;
    return plainData({
      executed: { block: executed.block, senders: executed.senders },
      changes,
    }) as PendingBlockData;
  }
}

function tryLimits({ trace, ...limits }: CallLimits, ms: number): CallLimits {
  const bytesMax = Math.min(trace.bytesMax, FIRST_TRY_BYTES);
  return {
    ...limits,
    timeoutMs: ms,
    trace: { ...trace, timeoutMs: ms, timeoutMsMax: ms, bytesMax },
  };
}
