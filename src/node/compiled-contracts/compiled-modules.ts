import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { EvmOptions } from "../../evm/machine/engine.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";

/** A compiled contract and the memory it counts for. */
export type CompiledModule = { readonly module: WebAssembly.Module; readonly bytes: number };

/** Cache of compiled contracts, bounded in bytes; evicts the least recently used. */
export class CompiledModules {
  readonly #bytesMax: number;
  readonly #onDropped: (key: string) => void;
  /** The most recently used last */
  readonly #modules = new Map<string, CompiledModule>();
  #bytes = 0;
  #dropped = 0;

  constructor(bytesMax: number, onDropped: (key: string) => void = () => {}) {
    this.#bytesMax = bytesMax;
    this.#onDropped = onDropped;
  }

  static keyOf(hash: Hash, hardfork: Hardfork): string {
    return `${hardfork} ${hash}`;
  }

  get size(): number {
    return this.#modules.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of evictions so far. */
  get dropped(): number {
    return this.#dropped;
  }

  has(key: string): boolean {
    return this.#modules.has(key);
  }

  find(key: string): CompiledModule | undefined {
    const known = this.#modules.get(key);
    if (known === undefined) return undefined;
    this.#modules.delete(key);
    this.#modules.set(key, known);
    return known;
  }

  get(key: string): WebAssembly.Module | undefined {
    return this.find(key)?.module;
  }

  add(key: string, module: CompiledModule): void {
    this.drop(key);
    this.#modules.set(key, module);
    this.#bytes += module.bytes;
    for (const oldest of this.#modules.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    const known = this.#modules.get(key);
    if (known === undefined) return;
    this.#modules.delete(key);
    this.#bytes -= known.bytes;
    this.#dropped++;
    this.#onDropped(key);
  }
}

/**
 * Gas per byte of code that a contract uses before it is compiled. Emission and V8 take about 60 µs per byte in another thread; the interpreter
 * uses about 100,000 gas in that time. So compilation costs at most as much CPU as interpretation did before.
 */
export const HOT_GAS_PER_BYTE = 100_000;

/** Options for an engine that compiles hot contracts. */
export function hotTier(compiler: ContractCompiler): Pick<EvmOptions, "tier"> {
  return { tier: { compiler, hotGasPerByte: HOT_GAS_PER_BYTE } };
}
