import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import type { CompileInput } from "./compile-contracts.thread.ts";
import { CompiledModules } from "./compiled-modules.ts";

/** A contract that is hot in another thread. */
export type ModuleRequest = Omit<CompileInput, "files">;

/** Provides threads with compiled contracts. */
export interface ModuleSource {
  request(input: ModuleRequest): Promise<{ readonly module: WebAssembly.Module } | undefined>;
  /** @returns unsubscribes */
  onDropped(listener: (key: string) => void): () => void;
}

/** Functions of the starter that a thread with `RequestedModules` calls. */
export type ModuleStarter = {
  compile(request: ModuleRequest): Promise<WebAssembly.Module | undefined>;
};

/** @param source undefined: contracts are only interpreted */
export function moduleStarter(source: ModuleSource | undefined): ModuleStarter {
  return { compile: async (request) => (await source?.request(request))?.module };
}

/** Compiled contracts of a thread, requested from the compiling thread and dropped when that thread drops them. */
export class RequestedModules implements ContractCompiler {
  readonly #request: ModuleStarter["compile"];
  readonly #modules = new CompiledModules(Number.POSITIVE_INFINITY);

  constructor(request: ModuleStarter["compile"]) {
    this.#request = request;
  }

  moduleOf(hash: Hash, code: Uint8Array, hardfork: Hardfork): WebAssembly.Module | undefined {
    const key = CompiledModules.keyOf(hash, hardfork);
    const known = this.#modules.get(key);
    if (known === undefined) {
      this.#request({ hash, code, hardfork }).then(
        (module) => {
          // The compiling thread counts its memory.
          if (module) this.#modules.add(key, { module, bytes: 0 });
        },
        // The contract stays with the interpreter.
        () => {},
      );
    }
    return known;
  }

  has(hash: Hash, hardfork: Hardfork): boolean {
    return this.#modules.has(CompiledModules.keyOf(hash, hardfork));
  }

  get dropped(): number {
    return this.#modules.dropped;
  }

  /** The compiling thread dropped it. */
  drop(key: string): void {
    this.#modules.drop(key);
  }
}
