import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { mayPrint } from "../../../dev/console-log.ts";
import type { StateReader } from "../../../evm/state/reader.ts";
import type { RawParams } from "../../../rpc/transport/dispatch/message.ts";
import type { ProjectNames } from "../project-names.ts";
import type { RunTracer, TransactionTracer } from "../transaction-tracer.ts";

/** Re-execution of calls that are not transactions. */
const CALL_DETAILS_LIMITS = {
  /** Time per second on the chain's thread, which has other work. */
  msPerSecond: 100,
  /** Maximum charge for one call: slower ones run on another thread, which may still have to start. */
  costMsMax: 20,
  /** console.log lines of one call. */
  printedMax: 20,
  /** Contract codes whose inspection is cached; a full cache is cleared. */
  codesMax: 10_000,
} as const;

type CallDetailsModules = {
  readonly names: ProjectNames;
  readonly tracer: TransactionTracer;
  readonly headState: () => { readonly number: number; readonly state: StateReader };
  /** `debug_traceCall` of the node. */
  readonly traceCall: (params: readonly unknown[]) => Promise<unknown>;
  /** Time limit for executing a call again; slower calls get no lines. */
  readonly timeoutMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

/** Methods whose calls are executed again, and whether their second parameter is a block and further ones are overrides. */
const METHODS: Readonly<Record<string, { readonly hasBlock: boolean }>> = {
  eth_call: { hasBlock: true },
  eth_estimateGas: { hasBlock: true },
  eth_sendTransaction: { hasBlock: false },
};

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** The source line where a call reverted, and its `console.log` output: a failed call never becomes a transaction. */
export class CallDetails {
  readonly #modules: CallDetailsModules;
  readonly #prints = new Map<Hash, boolean>();
  #second = -1;
  #msLeft = 0;

  constructor(modules: CallDetailsModules) {
    this.#modules = modules;
  }

  /** Lines below the call's line; undefined at once if none. */
  linesOf(method: string, params: RawParams, isFailed: boolean): Promise<readonly string[]> | undefined {
    const form = METHODS[method];
    const message = params?.[0];
    if (form === undefined || typeof message !== "object" || message === null) return undefined;
    const { to, data, input } = message as { readonly to?: unknown; readonly data?: unknown; readonly input?: unknown };
    const hasLine = isFailed && this.#modules.names.contracts.size > 0;
    // The block shows the output of a sent transaction.
    const isPrinting = (isFailed || method === "eth_call") && this.#mayPrint(to, input ?? data);
    if (!(hasLine || isPrinting) || !this.#hasTime()) return undefined;
    const [, at, stateOverrides, blockOverrides] = form.hasBlock ? (params ?? []) : [];
    return this.#trace([message, at ?? "latest"], { stateOverrides, blockOverrides }, isFailed);
  }

  async #trace(call: readonly unknown[], overrides: object, isFailed: boolean): Promise<readonly string[]> {
    const { tracer, traceCall, headState, timeoutMs, now } = this.#modules;
    const startMs = now();
    const run: RunTracer = (name, tracerConfig) =>
      traceCall([...call, { tracer: name, tracerConfig, timeout: `${timeoutMs}ms`, ...overrides }]);
    const { printed, revertedAt } = await tracer
      .detailsBy(run, { number: headState().number, isFailed })
      .catch(() => ({ printed: [], revertedAt: undefined }));
    this.#msLeft -= Math.min(now() - startMs, CALL_DETAILS_LIMITS.costMsMax);
    const lines = printed.flatMap((text) => text.split("\n", CALL_DETAILS_LIMITS.printedMax));
    return [
      ...(revertedAt === undefined ? [] : [`reverted at ${revertedAt}`]),
      ...lines.slice(0, CALL_DETAILS_LIMITS.printedMax).map((text) => `console.log ${text}`),
    ];
  }

  #hasTime(): boolean {
    const second = Math.floor(this.#modules.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#msLeft = CALL_DETAILS_LIMITS.msPerSecond;
    }
    return this.#msLeft > 0;
  }

  /** Checks only the called code: contracts that it calls may print unnoticed. */
  #mayPrint(to: unknown, data: unknown): boolean {
    if (to === undefined || to === null) return typeof data === "string" && data.includes(CONSOLE_HEX);
    if (typeof to !== "string" || !ADDRESS.test(to)) return false;
    const { state } = this.#modules.headState();
    const codeHash = state.account(to.toLowerCase() as Address)?.codeHash;
    if (codeHash === undefined) return false;
    let prints = this.#prints.get(codeHash);
    if (prints === undefined) {
      if (this.#prints.size >= CALL_DETAILS_LIMITS.codesMax) this.#prints.clear();
      prints = mayPrint(state.code(codeHash));
      this.#prints.set(codeHash, prints);
    }
    return prints;
  }
}

/** "console.log" in the init code of a call that creates a contract. */
const CONSOLE_HEX = Buffer.from("console.log").toString("hex");
