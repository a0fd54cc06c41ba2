import { equalBytes } from "../../primitives/bytes.ts";
import { type AbiItem, selectorOf, signatureHash } from "./abi.ts";
import type { SourceMap } from "./source-map.ts";

/** A compiled contract. */
export type Contract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  readonly creation: CompiledCode;
  readonly runtime: CompiledCode;
};

export type CompiledCode = {
  /** Empty for an interface. */
  readonly bytes: Uint8Array;
  /** Zeros in `bytes`, in place of immutables and of addresses of libraries: start and length in bytes. */
  readonly placeholders: readonly (readonly [start: number, length: number])[];
  readonly sourceMap: SourceMap | undefined;
};

/** The contracts of a project, found by their code, and their ABIs by selector. */
export class Contracts {
  readonly #byRuntimeLength = new Map<number, Contract[]>();
  readonly #creatable: Contract[] = [];
  readonly #items = new Map<string, AbiItem>();
  readonly #all: Contract[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(contract: Contract): void {
    this.#all.push(contract);
    const { length } = contract.runtime.bytes;
    if (length > 0) {
      this.#byRuntimeLength.set(length, [...(this.#byRuntimeLength.get(length) ?? []), contract]);
    }
    if (contract.creation.bytes.length > 0) this.#creatable.push(contract);
    for (const item of contract.abi) {
      const key = keyOf(item);
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  /** The contract that was deployed with `code`, whatever its immutables and libraries are. */
  withRuntime(code: Uint8Array): Contract | undefined {
    return this.#byRuntimeLength
      .get(code.length)
      ?.find(({ runtime }) => equalBytes(withPlaceholders(code, runtime), runtime.bytes));
  }

  /** The contract that `initCode`, its code and the constructor's arguments, deploys. */
  withCreation(initCode: Uint8Array): Contract | undefined {
    return this.#creatable.find(({ creation }) =>
      equalBytes(
        withPlaceholders(initCode.subarray(0, creation.bytes.length), creation),
        creation.bytes,
      ),
    );
  }

  /** A function, event or error by selector or topic, of `contract` or else of any: proxies have the ABI of another. */
  item(kind: "function" | "event" | "error", id: string, contract?: Contract): AbiItem | undefined {
    const key = `${kind} ${id}`;
    return contract?.abi.find((item) => keyOf(item) === key) ?? this.#items.get(key);
  }
}

function keyOf(item: AbiItem): string | undefined {
  if (item.type === "event") return `event ${signatureHash(item)}`;
  if (item.type === "function" || item.type === "error") return `${item.type} ${selectorOf(item)}`;
  return undefined;
}

/** Deployed `code` with the placeholders of compiled code. */
export function withPlaceholders(code: Uint8Array, { placeholders }: CompiledCode): Uint8Array {
  if (placeholders.length === 0) return code;
  const bytes = code.slice();
  for (const [start, length] of placeholders) bytes.fill(0, start, start + length);
  return bytes;
}
