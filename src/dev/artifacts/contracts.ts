import { equalBytes } from "../../base/primitives/bytes.ts";
import { type AbiItem, selectorOf, signatureHash } from "./abi.ts";
import { wellKnownItems } from "./well-known.ts";

/** A compiled contract. */
export type Contract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  readonly creation: CompiledCode;
  readonly runtime: CompiledCode;
  /** Texts of its sources by path, the one that declares it first; undefined where the artifact leads to none. */
  readonly sources?: (() => SourceTexts) | undefined;
};

/** Texts by path. */
export type SourceTexts = Readonly<Record<string, string>>;

export type CompiledCode = {
  /** Empty for an interface. */
  readonly bytes: Uint8Array;
  /** Zeros in `bytes` that stand for immutables and addresses of libraries: start and length in bytes. */
  readonly placeholders: readonly (readonly [start: number, length: number])[];
  readonly sourceMap: SourceMap | undefined;
};

/** The contracts of a project, found by their code, and their ABIs by selector; and ABIs of well-known standards. */
export class Contracts {
  readonly #byRuntimeLength = new Map<number, Contract[]>();
  readonly #creatable: Contract[] = [];
  readonly #items = new Map<string, AbiItem>();
  readonly #all: Contract[] = [];
  /** Items of standards, created lazily: they hash a few hundred signatures. */
  #wellKnown: ReadonlyMap<string, readonly AbiItem[]> | undefined;

  /** In the order in which they were added. */
  get all(): readonly Contract[] {
    return this.#all;
  }

  get size(): number {
    return this.#all.length;
  }

  add(contract: Contract): void {
    this.#all.push(contract);
    const { length } = contract.runtime.bytes;
    if (length > 0) {
      const same = this.#byRuntimeLength.get(length);
      if (same === undefined) this.#byRuntimeLength.set(length, [contract]);
      else same.push(contract);
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
      equalBytes(withPlaceholders(initCode.subarray(0, creation.bytes.length), creation), creation.bytes),
    );
  }

  /**
   * A function, event or error by selector or topic: of `contract`, else of any contract, since proxies have the ABI of another, else of a standard.
   * @param indexed the number of an event's topics after the first: some events of ERC-20 and ERC-721 differ only in that
   */
  item(kind: "function" | "event" | "error", id: string, contract?: Contract, indexed?: number): AbiItem | undefined {
    const key = `${kind} ${id}`;
    const own = contract?.abi.find((item) => keyOf(item) === key) ?? this.#items.get(key);
    if (own !== undefined && (indexed === undefined || indexedCount(own) === indexed)) return own;
    this.#wellKnown ??= byKey(wellKnownItems());
    const known = this.#wellKnown.get(key) ?? [];
    return known.find((item) => indexed === undefined || indexedCount(item) === indexed) ?? own;
  }
}

function indexedCount({ inputs = [] }: AbiItem): number {
  return inputs.filter(({ indexed }) => indexed).length;
}

function byKey(items: readonly AbiItem[]): ReadonlyMap<string, readonly AbiItem[]> {
  const map = new Map<string, AbiItem[]>();
  for (const item of items) {
    const key = keyOf(item) ?? "";
    map.set(key, [...(map.get(key) ?? []), item]);
  }
  return map;
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

/** Where the code of a contract came from, as solc's source maps say. */
export type SourceMap = {
  /** `s:l:f:j:m;…`, one entry per instruction; omitted fields repeat those of the previous entry. */
  readonly text: string;
  /** Path and text of a source by its number in the compilation; undefined where the artifact does not have it. */
  readonly source: (index: number) => { readonly path: string; readonly text: string } | undefined;
};

const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/**
 * `path:line` of the instruction that ran last and has a place in the sources: a revert is in code of the compiler's own, which has none.
 * @param pcs program counters in the order in which they ran
 */
export function lineOf(pcs: readonly number[], code: Uint8Array, { text, source }: SourceMap): string | undefined {
  const entries = entriesOf(text);
  const indexes = instructionIndexes(code);
  for (const pc of [...pcs].reverse()) {
    const entry = entries[indexes.get(pc) ?? -1];
    const file = entry && entry.file >= 0 ? source(entry.file) : undefined;
    if (entry === undefined || file === undefined) continue;
    const before = Buffer.from(file.text).subarray(0, entry.start).toString();
    return `${file.path}:${before.split("\n").length}`;
  }
  return undefined;
}

type Entry = { readonly start: number; readonly file: number };

function entriesOf(text: string): readonly Entry[] {
  let start = 0;
  let file = -1;
  return text.split(";").map((entry) => {
    const [from = "", , index = ""] = entry.split(":");
    if (from !== "") start = Number(from);
    if (index !== "") file = Number(index);
    return { start, file };
  });
}

/** Number of the instruction at each program counter. */
function instructionIndexes(code: Uint8Array): ReadonlyMap<number, number> {
  const indexes = new Map<number, number>();
  for (let pc = 0, index = 0; pc < code.length; pc++, index++) {
    indexes.set(pc, index);
    const opcode = code[pc]!;
    if (opcode >= PUSH1 && opcode <= PUSH32) pc += opcode - PUSH1 + 1;
  }
  return indexes;
}
