import { createExecutionReads, type ExecutionCore } from "../../adapters/execution-port.ts";
import type { ChainParts } from "../../adapters/parts.ts";
import type { CallLimits } from "../../adapters/rpc-settings.ts";
import { ExecutionTimeoutError } from "../../execution/call/call-errors.ts";
import type { Hash } from "../../primitives/hash.ts";
import { plainData } from "../../rpc/ports/channel/plain-data.ts";
import { remoteMethod } from "../../rpc/ports/channel/protocol.ts";
import type { ExecutionReads, TraceRequest } from "../../rpc/ports/execution.ts";
import type { CancelToken } from "../../threads/cancel-token.ts";
import { TraceTooLargeError, TracingTimeoutError } from "../../tracing/trace-budget.ts";
import type { PendingBlockData } from "../workers/execution-protocol.ts";
import type { ExecutionThreads } from "../workers/execution-threads.ts";

/**
 * A call runs so long on the chain's thread before it moves to another. Nearly all calls of wallets end within a tenth of it
 * (balanceOf: 53 µs), sooner than another thread could answer.
 */
const FIRST_TRY_MS = 2;
/** The same while every other thread has a call: a short one should not wait for those that are cut after seconds. */
const FIRST_TRY_BUSY_MS = 5;
/** The same while no other thread runs: one takes some 300 ms to start. */
const FIRST_TRY_ALONE_MS = 50;
/** Text of a trace that is tried here: what is larger is written again elsewhere, and would fill two threads' memory meanwhile. */
const FIRST_TRY_BYTES = 4 << 20;
/** A thread starts after so much time in calls longer than FIRST_TRY_MS: more than the first ones of a new process, not yet compiled. */
const SLOW_MS_MAX = 200;
/** A transaction is traced after those before it ran, which no deadline cuts: some 15 ms at 60 ns per gas. */
const FIRST_TRY_BLOCK_GAS_MAX = 250_000n;

/** What ends a first try and not the request. */
const TOO_MUCH_FOR_A_TRY = [ExecutionTimeoutError, TracingTimeoutError, TraceTooLargeError];

type ReadName = keyof ExecutionReads;
type AnyRead = (...args: readonly unknown[]) => unknown;
type Reader = ChainParts["reader"];

const always = (): boolean => true;
const never = (): boolean => false;
const unlessReplayed = (args: readonly unknown[]): boolean =>
  (args[2] as { readonly txIndex?: number }).txIndex === undefined;

/** Whether a request can be cut at a deadline wherever it is, so that the chain's thread may try it. */
const CAN_TRY: Readonly<Record<ReadName, (args: readonly unknown[], reader: Reader) => boolean>> = {
  call: always,
  estimateGas: always,
  createAccessList: always,
  callMany: unlessReplayed,
  simulate: never,
  traceTransaction: ([hash], reader) =>
    isLightBlock(reader.transactionPosition(hash as Hash)?.number, reader),
  traceBlock: ([at], reader) =>
    isLightBlock(typeof at === "number" ? at : reader.numberOf(at as Hash), reader),
  traceRawBlock: never,
  traceCall: unlessReplayed,
  traceBundles: unlessReplayed,
  traceCalls: always,
  traceRawTransaction: always,
};

/** `ExecutionReads` that leaves the chain's thread free: what takes long runs in `threads`. */
export function createThreadedExecution(
  limits: CallLimits,
  core: ExecutionCore,
  modules: {
    readonly suggestTip: () => bigint;
    readonly threads: ExecutionThreads;
    /** True while the other threads lack something of the state. */
    readonly isLocal: () => boolean;
  },
): ExecutionReads {
  const { threads, suggestTip, isLocal } = modules;
  const here = createExecutionReads(limits, core, suggestTip);
  const { reader } = core;
  const triesOf = (ms: number) =>
    createExecutionReads(
      {
        ...limits,
        timeoutMs: ms,
        trace: {
          ...limits.trace,
          ...{ timeoutMs: ms, timeoutMsMax: ms },
          bytesMax: Math.min(limits.trace.bytesMax, FIRST_TRY_BYTES),
        },
      },
      core,
      suggestTip,
    );
  const tries = triesOf(FIRST_TRY_MS);
  const triesBusy = triesOf(FIRST_TRY_BUSY_MS);
  const triesAlone = triesOf(FIRST_TRY_ALONE_MS);
  /** In calls on this thread while no other runs. */
  let slowMs = 0;

  function tryHere(method: ReadName, args: readonly unknown[]): unknown {
    if (threads.isReady) {
      const reads = threads.isSaturated ? triesBusy : tries;
      return (reads[method] as AnyRead)(...args);
    }
    const start = performance.now();
    try {
      return (triesAlone[method] as AnyRead)(...args);
    } finally {
      const elapsed = performance.now() - start;
      if (elapsed > FIRST_TRY_MS) slowMs += elapsed;
      if (slowMs > SLOW_MS_MAX) {
        slowMs = 0;
        threads.warmUp();
      }
    }
  }

  function inThread(method: ReadName, args: readonly unknown[], timeoutMs: number): unknown {
    const cancelAt = remoteMethod("execution", method)?.cancelAt ?? args.length;
    const pending = args[1] === "pending" ? pendingData(reader) : undefined;
    return threads.run({
      ...{ method, timeoutMs, args: plainData(args.slice(0, cancelAt)) as unknown[] },
      ...(pending && { pending }),
      cancel: args[cancelAt] as CancelToken | undefined,
    });
  }

  function run(method: ReadName, args: readonly unknown[]): unknown {
    if (isLocal()) return (here[method] as AnyRead)(...args);
    const timeoutMs = timeoutOf(method, args, limits);
    // A shorter deadline than the first try's has to be the request's own.
    const isShort = timeoutMs > 0 && timeoutMs <= FIRST_TRY_ALONE_MS;
    const isLarge = threads.isReady && showsMemory(args);
    if (isShort || isLarge || !CAN_TRY[method](args, reader)) {
      return inThread(method, args, timeoutMs);
    }
    try {
      return tryHere(method, args);
    } catch (error) {
      if (TOO_MUCH_FOR_A_TRY.some((kind) => error instanceof kind)) {
        return inThread(method, args, timeoutMs);
      }
      throw error;
    }
  }

  const methods = Object.keys(CAN_TRY).map((name) => [
    name,
    (...args: readonly unknown[]) => run(name as ReadName, args),
  ]);
  return Object.fromEntries(methods) as ExecutionReads;
}

/** Each step of such a trace writes a memory: what a try writes in vain, megabytes, would wait for a collection of this thread. */
function showsMemory(args: readonly unknown[]): boolean {
  return args.some((arg) => (arg as TraceRequest | null | undefined)?.enableMemory === true);
}

function isLightBlock(number: number | undefined, reader: Reader): boolean {
  const header = number === undefined ? undefined : reader.header(number);
  return header === undefined || header.gasUsed <= FIRST_TRY_BLOCK_GAS_MAX;
}

/** What the execution itself takes for its deadline; 0: none. */
function timeoutOf(method: ReadName, args: readonly unknown[], limits: CallLimits): number {
  if (!method.startsWith("trace")) return limits.timeoutMs;
  const { trace } = limits;
  const requested = args.map((arg) => (arg as TraceRequest | undefined)?.timeoutMs);
  return Math.min(requested.find((ms) => ms !== undefined) ?? trace.timeoutMs, trace.timeoutMsMax);
}

function pendingData({ pending }: Reader): PendingBlockData | undefined {
  const block = pending();
  if (block === undefined) return undefined;
  const { executed, changes } = block;
  return plainData({
    executed: { block: executed.block, senders: executed.senders },
    changes,
  }) as PendingBlockData;
}
