import { invariant } from "../errors.ts";
import { type Code, type Local, type Operand, pushOperand, pushUnsigned, unsigned, type ValueType } from "./code.ts";

export type Signature = {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
};

/** A function of the module, imported or defined. */
export type FunctionRef = Signature & { readonly index: number };

/** A block or loop to leave or repeat from inside. */
export type Label = { readonly depth: number };

const TYPE_BYTE: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };
const EMPTY_BLOCK_TYPE = 0x40;

export function typeByte(type: ValueType): number {
  return TYPE_BYTE[type];
}

/** `f(...)`: leaves the results of `f`. */
export function call(f: FunctionRef, ...args: readonly Operand[]): Code {
  invariant(args.length === f.params.length, `call with ${args.length} arguments`);
  return (out) => {
    args.forEach((arg, i) => {
      pushOperand(out, arg, f.params[i]!);
    });
    out.push(0x10);
    pushUnsigned(out, f.index);
  };
}

/** The body of one function: statements in order, control flow as nested callbacks. */
export class FunctionBuilder {
  readonly params: readonly Local[];
  readonly #body: number[] = [];
  readonly #types: ValueType[] = [];
  readonly #free: Record<ValueType, Local[]> = { i32: [], i64: [], v128: [] };
  #scope: Local[] | undefined;
  #depth = 0;

  constructor(signature: Signature) {
    this.params = signature.params.map((type, index) => ({ index, type }));
  }

  /** A new variable; inside `scope`, it is freed at its end. */
  local(type: ValueType): Local {
    const local = this.allocate(type);
    this.#scope?.push(local);
    return local;
  }

  i32(value: Operand): Local {
    return this.let("i32", value);
  }

  i64(value: Operand): Local {
    return this.let("i64", value);
  }

  v128(value: Operand): Local {
    return this.let("v128", value);
  }

  /** A new variable initialised with `value`. */
  let(type: ValueType, value: Operand): Local {
    const local = this.local(type);
    this.set(local, value);
    return local;
  }

  /** A new variable outside any scope: it lives until `free`. */
  allocate(type: ValueType): Local {
    return (
      this.#free[type].pop() ?? {
        index: this.params.length + this.#types.push(type) - 1,
        type,
      }
    );
  }

  /** Frees the variable for reuse. */
  free(local: Local): void {
    this.#free[local.type].push(local);
  }

  /** Frees variables created inside for reuse. */
  scope(body: () => void): void {
    const outer = this.#scope;
    const mine: Local[] = [];
    this.#scope = mine;
    body();
    for (const local of mine) this.#free[local.type].push(local);
    this.#scope = outer;
  }

  set(local: Local, value: Operand): void {
    pushOperand(this.#body, value, local.type);
    this.#body.push(0x21);
    pushUnsigned(this.#body, local.index);
  }

  /** Sets several variables from a call with as many results. */
  setAll(locals: readonly Local[], value: Code): void {
    this.do(value);
    for (const local of [...locals].reverse()) {
      this.#body.push(0x21);
      pushUnsigned(this.#body, local.index);
    }
  }

  /** A statement: a store, or a call without result. */
  do(...statements: readonly Code[]): void {
    for (const statement of statements) statement(this.#body);
  }

  /** A statement that leaves a value, which is dropped. */
  drop(value: Code): void {
    this.do(value);
    this.#body.push(0x1a);
  }

  if(condition: Operand, then: () => void, otherwise?: () => void): void {
    pushOperand(this.#body, condition, "i32");
    this.#open(0x04);
    then();
    if (otherwise) {
      this.#body.push(0x05);
      otherwise();
    }
    this.#close();
  }

  /** `br` to its label jumps past its end. */
  block(body: (label: Label) => void): void {
    body(this.#open(0x02));
    this.#close();
  }

  /** `br` to its label jumps to its beginning; falling through ends it. */
  loop(body: (label: Label) => void): void {
    body(this.#open(0x03));
    this.#close();
  }

  /** A loop if `body` returns true, which means that it jumps to the label; otherwise a block, which costs nothing. */
  repeat(body: (label: Label) => boolean): void {
    const position = this.#body.length;
    const isRepeated = body(this.#open(0x03));
    this.#close();
    if (!isRepeated) this.#body[position] = 0x02;
  }

  br(label: Label): void {
    this.#body.push(0x0c, ...unsigned(this.#depth - label.depth));
  }

  brIf(label: Label, condition: Operand): void {
    pushOperand(this.#body, condition, "i32");
    this.#body.push(0x0d, ...unsigned(this.#depth - label.depth));
  }

  /** Jumps to `labels[index]`, or to `otherwise` beyond the last. */
  brTable(index: Operand, labels: readonly Label[], otherwise: Label): void {
    pushOperand(this.#body, index, "i32");
    this.#body.push(0x0e);
    pushUnsigned(this.#body, labels.length);
    for (const label of [...labels, otherwise]) {
      pushUnsigned(this.#body, this.#depth - label.depth);
    }
  }

  return(...values: readonly Code[]): void {
    this.do(...values);
    this.#body.push(0x0f);
  }

  unreachable(): void {
    this.#body.push(0x00);
  }

  /** Opens a block explicitly, for nesting too deep for callbacks; `end` closes it. */
  openBlock(): Label {
    return this.#open(0x02);
  }

  end(): void {
    this.#close();
  }

  /** Position of the next statement, for `insertAt`. */
  get position(): number {
    return this.#body.length;
  }

  /** Inserts the statements of `build` at `position`, which must have the same depth. */
  insertAt(position: number, build: () => void): void {
    const after = this.#body.splice(position);
    build();
    for (const byte of after) this.#body.push(byte);
  }

  /** The entry of the code section, without its length. */
  bytes(): number[] {
    const out: number[] = [];
    pushUnsigned(out, this.#types.length);
    for (const type of this.#types) out.push(1, typeByte(type));
    return out.concat(this.#body, 0x0b);
  }

  #open(opcode: number): Label {
    this.#body.push(opcode, EMPTY_BLOCK_TYPE);
    this.#depth++;
    return { depth: this.#depth };
  }

  #close(): void {
    this.#body.push(0x0b);
    this.#depth--;
  }
}
