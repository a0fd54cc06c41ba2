import type { ContractCompiler } from "../../evm/modules/compiled-tier.ts";
import type { Hardfork } from "../../params/hardforks.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Logger } from "../../telemetry/logger.ts";
import {
  type Counter,
  type Histogram,
  type Metrics,
  SECONDS_BUCKETS,
} from "../../telemetry/metrics.ts";
import type { CompileInput, CompileResult } from "../workers/compile-contracts.ts";
import { TaskThread } from "../workers/task-thread.ts";
import { WorkerTaskError } from "../workers/worker-task-error.ts";

/** The largest contract takes some two seconds of a thread. */
const THREAD_LIMITS = { timeoutMs: 20_000, heapMegabytesMax: 512, waitingMax: 16 };

/** Contracts remembered as not to be compiled; then all of them are forgotten. */
const REJECTED_MAX = 10_000;

/** Bytes of memory for each byte of a module: V8 has the module, its optimised code and tables for it. */
const MEMORY_PER_BYTE = 4;

export type ThreadedCompilerOptions = {
  /** Memory of all compiled contracts together; the least recently asked for are dropped. */
  readonly cacheBytesMax: number;
};

/** Compiles contracts in a thread of its own, one after the other, and remembers the modules. */
export class ThreadedCompiler implements ContractCompiler {
  readonly #options: ThreadedCompilerOptions;
  readonly #log: Logger;
  readonly #thread = new TaskThread<CompileInput, CompileResult>(
    "compile-contracts",
    THREAD_LIMITS,
  );
  /** By hardfork and code hash, the most recently used last */
  readonly #modules = new Map<
    string,
    { readonly module: WebAssembly.Module; readonly bytes: number }
  >();
  readonly #pending = new Set<string>();
  readonly #rejected = new Set<string>();
  readonly #outcomes: Counter;
  readonly #seconds: Histogram;
  #bytes = 0;

  constructor(
    options: ThreadedCompilerOptions,
    { log, metrics }: { log: Logger; metrics: Metrics },
  ) {
    this.#options = options;
    this.#log = log;
    this.#outcomes = metrics.counter({
      name: "contract_compilations_total",
      help: "Contracts handed to the compiler, by outcome.",
      labels: ["outcome"],
    });
    this.#seconds = metrics.histogram({
      name: "contract_compile_seconds",
      help: "Time from the request for a compiled contract to its module.",
      buckets: SECONDS_BUCKETS,
    });
    const gauge = (name: string, help: string, read: () => number) =>
      metrics.gaugeOf({ name, help }, read);
    gauge("compiled_contracts", "Compiled contracts in memory.", () => this.#modules.size);
    gauge("compiled_contract_bytes", "Memory they are counted with.", () => this.#bytes);
  }

  moduleOf(hash: Hash, code: Uint8Array, hardfork: Hardfork): WebAssembly.Module | undefined {
    const key = `${hardfork} ${hash}`;
    const known = this.#modules.get(key);
    if (known) {
      this.#modules.delete(key);
      this.#modules.set(key, known);
      return known.module;
    }
    const isSettled = this.#pending.has(key) || this.#rejected.has(key);
    if (!isSettled && !this.#thread.isFull()) void this.#compile(key, { code, hardfork });
    return undefined;
  }

  /** Contracts that wait for the thread, with the one in it. */
  get waiting(): number {
    return this.#thread.waiting;
  }

  close(): void {
    this.#thread.close();
  }

  async #compile(key: string, input: CompileInput): Promise<void> {
    this.#pending.add(key);
    const begun = performance.now();
    try {
      const result = await this.#thread.run(input);
      this.#outcomes.add(1, { outcome: result ? "compiled" : "too_large" });
      if (result) this.#remember(key, result);
      else this.#reject(key);
    } catch (error) {
      // Its code stays with the interpreter; a thread that is closed rejects too.
      if (!(error instanceof WorkerTaskError)) throw error;
      this.#outcomes.add(1, { outcome: "failed" });
      if (error.isThreadLost) this.#log.error("contract compiler ended", { error });
      this.#reject(key);
    } finally {
      this.#pending.delete(key);
      this.#seconds.observe((performance.now() - begun) / 1000);
    }
  }

  #remember(key: string, { module, bytes }: NonNullable<CompileResult>): void {
    const size = bytes * MEMORY_PER_BYTE;
    this.#modules.set(key, { module, bytes: size });
    this.#bytes += size;
    for (const [oldest, { bytes: freed }] of this.#modules) {
      if (this.#bytes <= this.#options.cacheBytesMax) return;
      this.#modules.delete(oldest);
      this.#bytes -= freed;
    }
  }

  #reject(key: string): void {
    if (this.#rejected.size >= REJECTED_MAX) this.#rejected.clear();
    this.#rejected.add(key);
  }
}
