import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import type { CompileInput } from "./compile-contracts.thread.ts";
import { CompiledModules } from "./compiled-modules.ts";

/** A contract that is hot in another thread. */
export type ModuleRequest = Omit<CompileInput, "files">;

/** Where threads get compiled contracts from. */
export interface ModuleSource {
  request(input: ModuleRequest): Promise<{ readonly module: WebAssembly.Module } | undefined>;
  /** @returns how to end it */
  onDropped(listener: (key: string) => void): () => void;
}

/** What a thread with `RequestedModules` asks of its starter. */
export type ModuleStarter = {
  compile(request: ModuleRequest): Promise<WebAssembly.Module | undefined>;
};

/** @param source undefined: contracts stay with the interpreter */
export function moduleStarter(source: ModuleSource | undefined): ModuleStarter {
  return { compile: async (request) => (await source?.request(request))?.module };
}

/** Compiled contracts of a thread, which come from the thread that compiles for all. They are dropped when that thread drops them. */
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
          // Its memory is counted where it was compiled.
          if (module) this.#modules.add(key, { module, bytes: 0 });
        },
        // It stays with the interpreter.
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
