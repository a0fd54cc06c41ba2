import { join } from "node:path";
import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import {
  type Counter,
  declareGauges,
  type Histogram,
  type Metrics,
  SECONDS_BUCKETS,
} from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { Pool } from "../../base/threads/pool.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import type { Config } from "../config/config.ts";
import { cachePath, isInMemory } from "../config/home.ts";
import type { CompileInput, CompileResult, ContractCompilation } from "./compile-contracts.thread.ts";
import { type CompiledModule, CompiledModules } from "./compiled-modules.ts";

/** The largest contract takes about two seconds of CPU, and the thread may get a tenth of a processor. */
const COMPILE_MS_MAX = 120_000;

/** Rejected contracts to remember; the full set is cleared. */
const REJECTED_MAX = 10_000;

/** Memory per byte of a module: V8 holds the module, its optimised code and tables. */
const MEMORY_PER_BYTE = 4;

type ThreadedCompilerOptions = {
  /** Memory of all compiled contracts; the least recently used are evicted. */
  readonly cacheBytesMax: number;
  /** Where emitted modules are stored for the next start and for other processes; undefined: nowhere */
  readonly files?: CompileInput["files"];
};

/** Compiles contracts in another thread, one at a time, and caches the modules. */
export class ThreadedCompiler implements ContractCompiler {
  readonly #options: ThreadedCompilerOptions;
  readonly #log: Logger;
  readonly #thread: Pool<ContractCompilation>;
  readonly #modules: CompiledModules;
  readonly #pending = new Map<string, Promise<CompiledModule | undefined>>();
  /** Called with the key of each evicted module. */
  readonly #onDropped = new Set<(key: string) => void>();
  readonly #rejected = new Set<string>();
  readonly #outcomes: Counter;
  readonly #fileFaults: Counter;
  readonly #seconds: Histogram;
  #fileBytes = 0;
  #isFileFaultLogged = false;

  constructor(
    options: ThreadedCompilerOptions,
    { log, metrics, timers }: { log: Logger; metrics: Metrics; timers: Timers },
  ) {
    this.#options = options;
    this.#log = log;
    this.#thread = new Pool(
      {
        entry: "node/compiled-contracts/compile-contracts.thread",
        count: 1,
        waitingMax: 16,
        heapMegabytesMax: 512,
        onLost: (error) => log.error("contract compiler ended", { error }),
      },
      timers,
    );
    this.#modules = new CompiledModules(options.cacheBytesMax, (key) => {
      for (const listener of this.#onDropped) listener(key);
    });
    this.#outcomes = metrics.counter({
      name: "contract_compilations_total",
      help: "Contracts handed to the compiler, by outcome.",
      labels: ["outcome"],
      values: ["compiled", "stored", "too_large", "failed"],
    });
    this.#seconds = metrics.histogram({
      name: "contract_compile_seconds",
      help: "Time from the request to compile a contract until its module is ready.",
      buckets: SECONDS_BUCKETS,
    });
    declareGauges(metrics, {
      compiled_contracts: ["Compiled contracts in memory.", () => this.#modules.size],
      compiled_contract_bytes: ["Estimated memory of compiled contracts.", () => this.#modules.bytes],
      compiled_contract_file_bytes: [
        "Size of the files of compiled contracts, known once one was written.",
        () => this.#fileBytes,
      ],
    });
    this.#fileFaults = metrics.counter({
      name: "compiled_contract_file_errors_total",
      help: "Compiled contracts that could not be read from disk or stored there.",
    });
  }

  moduleOf(hash: Hash, code: Uint8Array, hardfork: Hardfork): WebAssembly.Module | undefined {
    const module = this.#modules.get(CompiledModules.keyOf(hash, hardfork));
    if (module === undefined) void this.request({ hash, code, hardfork });
    return module;
  }

  has(hash: Hash, hardfork: Hardfork): boolean {
    return this.#modules.has(CompiledModules.keyOf(hash, hardfork));
  }

  get dropped(): number {
    return this.#modules.dropped;
  }

  /** Resolves to the compiled contract; undefined: it stays with the interpreter, or the queue is full. */
  request(input: Omit<CompileInput, "files">): Promise<CompiledModule | undefined> {
    const key = CompiledModules.keyOf(input.hash, input.hardfork);
    const known = this.#modules.find(key);
    if (known !== undefined) return Promise.resolve(known);
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    if (this.#rejected.has(key) || this.#thread.isFull()) return Promise.resolve(undefined);
    const compiling = this.#compile(key, { ...input, files: this.#options.files });
    this.#pending.set(key, compiling);
    return compiling;
  }

  /** Calls `listener` with the key of each evicted module. @returns unsubscribes */
  onDropped(listener: (key: string) => void): () => void {
    this.#onDropped.add(listener);
    return () => this.#onDropped.delete(listener);
  }

  /** Contracts waiting for the thread, including the current one. */
  get waiting(): number {
    return this.#thread.busy + this.#thread.waiting;
  }

  close(): void {
    void this.#thread.close();
  }

  async #compile(key: string, input: CompileInput): Promise<CompiledModule | undefined> {
    const begun = performance.now();
    try {
      const result = await this.#thread.call("compile", input, { timeoutMs: COMPILE_MS_MAX });
      this.#noteFiles(result);
      const { compiled, isFromFile } = result;
      this.#outcomes.add(1, {
        outcome: compiled ? (isFromFile ? "stored" : "compiled") : "too_large",
      });
      if (compiled) return this.#remember(key, compiled);
    } catch {
      // The code stays with the interpreter. A closed thread rejects as well.
      this.#outcomes.add(1, { outcome: "failed" });
    } finally {
      this.#pending.delete(key);
      this.#seconds.observe((performance.now() - begun) / 1000);
    }
    this.#reject(key);
    return undefined;
  }

  /** A failing disk only costs the time to emit contracts again. */
  #noteFiles({ fileBytes, fileError }: CompileResult): void {
    this.#fileBytes = fileBytes;
    if (fileError === undefined) return;
    this.#fileFaults.add();
    if (this.#isFileFaultLogged) return;
    this.#isFileFaultLogged = true;
    const { directory } = this.#options.files!;
    this.#log.warn("compiled contracts are not stored", { directory, error: fileError });
  }

  #remember(key: string, { module, bytes }: NonNullable<CompileResult["compiled"]>): CompiledModule {
    const compiled = { module, bytes: bytes * MEMORY_PER_BYTE };
    this.#modules.add(key, compiled);
    return compiled;
  }

  #reject(key: string): void {
    if (this.#rejected.size >= REJECTED_MAX) this.#rejected.clear();
    this.#rejected.add(key);
  }
}

/** Caches of compiled contracts, which evict the least recently used. */
const COMPILED_CONTRACT_LIMITS = {
  /** Memory per process: 1,000 contracts of 2.5 KB, or 100 of the largest. */
  cacheBytesMax: 200 * 2 ** 20,
  /** Files in the home's cache folder: about 1,000 contracts of 10 KB. */
  fileBytesMax: 256 * 2 ** 20,
} as const;

/** The compiler of a process; undefined where contracts are only interpreted. */
export function createContractCompiler(
  config: Config,
  log: Logger,
  modules: { readonly metrics: Metrics; readonly timers: Timers },
): ThreadedCompiler | undefined {
  if (config.evm.compile === "off") return undefined;
  const { cacheBytesMax, fileBytesMax } = COMPILED_CONTRACT_LIMITS;
  const directory = join(cachePath(config.home), "contracts");
  return new ThreadedCompiler(
    {
      cacheBytesMax,
      files: isInMemory(config) ? undefined : { directory, bytesMax: fileBytesMax },
    },
    { ...modules, log },
  );
}
