import type { ContractCompiler } from "../../evm/modules/compiled-tier.ts";
import type { Hardfork } from "../../params/hardforks.ts";
import type { Hash } from "../../primitives/hash.ts";
import { CompiledModules } from "../adapters/compiled/compiled-modules.ts";
import type { CompileInput } from "./compile-contracts.ts";

/** From an execution thread: a contract is hot there. */
export type ModuleRequest = Omit<CompileInput, "files">;

/** To an execution thread. */
export type ModuleMessage =
  | {
      readonly kind: "module";
      readonly key: string;
      readonly module: WebAssembly.Module;
    }
  | { readonly kind: "dropped"; readonly key: string };

/** Compiled contracts of a thread, which come from the thread that compiles for all. They are dropped when that one drops them. */
export class RequestedModules implements ContractCompiler {
  readonly #send: (request: ModuleRequest) => void;
  readonly #modules = new CompiledModules(Number.POSITIVE_INFINITY);

  constructor(send: (request: ModuleRequest) => void) {
    this.#send = send;
  }

  moduleOf(hash: Hash, code: Uint8Array, hardfork: Hardfork): WebAssembly.Module | undefined {
    const module = this.#modules.get(CompiledModules.keyOf(hash, hardfork));
    if (module === undefined) this.#send({ hash, code, hardfork });
    return module;
  }

  has(hash: Hash, hardfork: Hardfork): boolean {
    return this.#modules.has(CompiledModules.keyOf(hash, hardfork));
  }

  get dropped(): number {
    return this.#modules.dropped;
  }

  receive(message: ModuleMessage): void {
    const { key } = message;
    if (message.kind === "dropped") this.#modules.drop(key);
    // Its memory is counted where it was compiled.
    else this.#modules.add(key, { module: message.module, bytes: 0 });
  }
}
