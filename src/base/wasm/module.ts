import { invariant } from "../errors.ts";
import { type Local, unsigned, type ValueType } from "./code.ts";
import { FunctionBuilder, type FunctionRef, typeByte } from "./function.ts";

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/**
 * Builds a WebAssembly module (specification 5.5): one imported memory, imported functions, defined functions. Imports come first, because they
 * take the first function numbers.
 */
export class ModuleBuilder {
  readonly #types: number[][] = [];
  readonly #typeIndex = new Map<string, number>();
  readonly #imports: { readonly name: string; readonly type: number }[] = [];
  readonly #functions: { readonly type: number; body: number[] | undefined }[] = [];
  readonly #exports: { readonly name: string; readonly index: number }[] = [];

  import(name: string, params: readonly ValueType[], results: readonly ValueType[]): FunctionRef {
    invariant(this.#functions.length === 0, "imports precede definitions");
    const index = this.#imports.push({ name, type: this.#type(params, results) }) - 1;
    return { index, params, results };
  }

  /** A function whose body follows later, so that others can call it before. */
  declare(params: readonly ValueType[], results: readonly ValueType[]): FunctionRef {
    const type = this.#type(params, results);
    const index = this.#imports.length + this.#functions.push({ type, body: undefined }) - 1;
    return { index, params, results };
  }

  implement(ref: FunctionRef, build: (f: FunctionBuilder, ...params: Local[]) => void): void {
    const f = new FunctionBuilder(ref);
    build(f, ...f.params);
    this.#functions[ref.index - this.#imports.length]!.body = f.bytes();
  }

  define(
    params: readonly ValueType[],
    results: readonly ValueType[],
    build: (f: FunctionBuilder, ...params: Local[]) => void,
  ): FunctionRef {
    const ref = this.declare(params, results);
    this.implement(ref, build);
    return ref;
  }

  export(name: string, ref: FunctionRef): void {
    this.#exports.push({ name, index: ref.index });
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const parts: (readonly number[])[] = [MAGIC_AND_VERSION];
    const section = (id: number, items: readonly (readonly number[])[]) => {
      const count = unsigned(items.length);
      const length = items.reduce((sum, item) => sum + item.length, count.length);
      parts.push([id], unsigned(length), count, ...items);
    };
    section(1, this.#types);
    section(2, [
      [...name("host"), ...name("memory"), 0x02, 0x00, ...unsigned(1)],
      ...this.#imports.map((item) => [...name("host"), ...name(item.name), 0x00, ...unsigned(item.type)]),
    ]);
    section(
      3,
      this.#functions.map(({ type }) => unsigned(type)),
    );
    section(
      7,
      this.#exports.map((item) => [...name(item.name), 0x00, ...unsigned(item.index)]),
    );
    section(
      10,
      this.#functions.map(({ body }) => {
        invariant(body, "a declared function has no body");
        return unsigned(body.length).concat(body);
      }),
    );
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  #type(params: readonly ValueType[], results: readonly ValueType[]): number {
    const key = `${params} -> ${results}`;
    let index = this.#typeIndex.get(key);
    if (index === undefined) {
      const bytes = [0x60, params.length, ...params.map(typeByte)];
      index = this.#types.push([...bytes, results.length, ...results.map(typeByte)]) - 1;
      this.#typeIndex.set(key, index);
    }
    return index;
  }
}

function name(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}
