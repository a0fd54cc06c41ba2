import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../base/primitives/hex.ts";
import { callTreeLines, failureText, type TracedFrame } from "../../dev/artifacts/call-tree.ts";
import { type Contract, type Contracts, lineOf } from "../../dev/artifacts/contracts.ts";
import { CONSOLE_ADDRESS, createConsoleReader } from "../../dev/console-log.ts";
import { textString } from "../../evm/tracing/json-writer.ts";
import type { ExecutionPort } from "../../rpc/ports/execution.ts";
import { ResponseTooLargeError } from "../../rpc/transport/errors.ts";
import type { ProjectNames } from "./project-names.ts";

/** Larger traces are not parsed: that would take 20 ms of the chain's thread, for lines that the log mostly omits. */
const TRACE_BYTES_MAX = 2 << 20;

/** Traces where frames reverted, in order: the preceding program counters, and the code's address. */
const REVERT_TRACER = `{
  frames: [{ pcs: [] }], reverts: [],
  step(log) {
    const depth = log.getDepth() - 1;
    const { to, initCode, pcs } = this.frames[depth];
    pcs.push(log.getPC());
    if (pcs.length > 64) pcs.shift();
    const opcode = log.op.toNumber();
    if (opcode === 0xfd || opcode === 0xfe) this.reverts.push({ depth, to, initCode, pcs: pcs.slice() });
  },
  fault() {},
  enter(call) {
    const isCreation = call.getType().startsWith("CREATE");
    this.frames.push({
      pcs: [],
      ...(isCreation ? { initCode: toHex(call.getInput()) } : { to: toHex(call.getTo()) }),
    });
  },
  exit() { this.frames.pop() },
  result(ctx) {
    const top = ctx.type === "CREATE" ? { initCode: toHex(ctx.input) } : { to: toHex(ctx.to) };
    return this.reverts.map((each) => each.depth > 0 ? each : { ...each, ...top });
  },
}`;

type Revert = {
  readonly depth: number;
  /** Address of the code; undefined if the frame ran `initCode`. */
  readonly to?: Address;
  readonly initCode?: Hex;
  readonly pcs: readonly number[];
};

/** Details of a transaction, from executing it again. */
export type TransactionDetails = {
  /** `execution reverted: not enough`, `out of gas`; only of a failed transaction. */
  readonly reason: string | undefined;
  /** `src/Token.sol:52`: where a failed transaction reverted, if the artifacts tell. */
  readonly revertedAt: string | undefined;
  /** Calls, events and results as a tree. */
  readonly calls: readonly string[];
  /** Output of contracts through `console.log`. */
  readonly printed: readonly string[];
  /** Why the details are missing. */
  readonly fault?: string;
};

/** Executes with a tracer of `debug_trace…` and returns the trace. */
export type RunTracer = (tracer: string, tracerConfig: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Output lines of one transaction. */
const PRINTED_MAX = 200;

/** Re-executes transactions to describe them in the log with the names of a project. */
export class TransactionTracer {
  readonly #names: ProjectNames;
  readonly #tracing: Pick<ExecutionPort, "traceTransaction">;
  readonly #timeoutMs: number;
  readonly #textOf = createConsoleReader();

  /** @param timeoutMs for executing a transaction again; a slower one has no details */
  constructor(names: ProjectNames, tracing: Pick<ExecutionPort, "traceTransaction">, timeoutMs: number) {
    this.#names = names;
    this.#tracing = tracing;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws errors of tracing, mostly TracingTimeoutError */
  details(
    hash: Hash,
    { number, isFailed }: { readonly number: number; readonly isFailed: boolean },
  ): Promise<TransactionDetails> {
    const run: RunTracer = async (tracer, tracerConfig) => {
      const request = { tracer, tracerConfig, timeoutMs: this.#timeoutMs };
      const trace = await this.#tracing.traceTransaction({ hash, request });
      const size = typeof trace === "string" ? trace.length : trace.reduce((sum, { length }) => sum + length, 0);
      if (size > TRACE_BYTES_MAX) throw new ResponseTooLargeError();
      return JSON.parse(textString(trace));
    };
    return this.detailsBy(run, { number, isFailed });
  }

  /**
   * Details of any execution that `run` repeats.
   * @param number of the block whose state names its contracts
   * @throws errors of `run`
   */
  async detailsBy(
    run: RunTracer,
    { number, isFailed }: { readonly number: number; readonly isFailed: boolean },
  ): Promise<TransactionDetails> {
    const { contracts } = this.#names;
    const top = (await run("callTracer", { withLog: true })) as ReasonedFrame;
    const contractAt = (address: Address) => this.#names.contractAt(address, number);
    const nameOf = (address: Address) => this.#names.fixedName(address);
    return {
      reason: isFailed ? reasonOf(top, { contracts, contractAt }) : undefined,
      revertedAt: isFailed && contracts.size > 0 ? await this.#revertLine(run, number) : undefined,
      calls: callTreeLines(top, { contracts, contractAt, nameOf }),
      printed: this.#printedBy(top),
    };
  }

  /** Failures are ignored: calls and reason are worth showing without the line. */
  async #revertLine(run: RunTracer, number: number): Promise<string | undefined> {
    const reverts = (await run(REVERT_TRACER, {}).catch(() => [])) as readonly Revert[];
    return lineOfReverts(reverts, this.#names, number);
  }

  #printedBy(top: TracedFrame): readonly string[] {
    const lines: string[] = [];
    const visit = (call: TracedFrame): void => {
      const isPrinted = call.to === CONSOLE_ADDRESS && lines.length < PRINTED_MAX;
      const text = isPrinted ? this.#textOf(hexToBytes(call.input)) : undefined;
      if (text !== undefined) lines.push(text);
      call.calls?.forEach(visit);
    };
    visit(top);
    return lines;
  }
}

/** `src/Token.sol:52` */
function lineOfReverts(reverts: readonly Revert[], names: ProjectNames, number: number): string | undefined {
  // The last revert is the outermost frame's. The reverts right before it, each one frame deeper, are the ones it passes on.
  let origin = reverts.length - 1;
  while (origin > 0 && reverts[origin - 1]!.depth === reverts[origin]!.depth + 1) origin--;
  const revert = reverts[origin];
  if (revert === undefined) return undefined;
  const { to, initCode, pcs } = revert;
  const code = to
    ? names.contractAt(to, number)?.runtime
    : names.contracts.withCreation(hexToBytes(initCode ?? "0x"))?.creation;
  return code?.sourceMap && lineOf(pcs, code.bytes, code.sourceMap);
}

type ReasonedFrame = TracedFrame & { readonly revertReason?: string };

/** The EVM's error with the contract's message, and the failure of an inner call if that differs. */
function reasonOf(
  top: ReasonedFrame,
  {
    contracts,
    contractAt,
  }: { readonly contracts: Contracts; readonly contractAt: (address: Address) => Contract | undefined },
): string {
  const { error = "failed", output = "0x", revertReason, to } = top;
  const contract = to === undefined ? undefined : contractAt(to as Address);
  const decoded = failureText("", output, contract, contracts);
  const detail = revertReason ?? (decoded || (output === "0x" ? undefined : output));
  const inner = innermostFailure(top);
  const cause = inner.error === error ? "" : ` (an inner call failed: ${inner.error})`;
  return `${detail === undefined ? error : `${error}: ${detail}`}${cause}`;
}

/** The frame where a failure originated: each frame ended with the failure of its last call. */
function innermostFailure(top: TracedFrame): TracedFrame {
  let frame = top;
  for (let last = frame.calls?.at(-1); last?.error !== undefined; last = frame.calls?.at(-1)) frame = last;
  return frame;
}
