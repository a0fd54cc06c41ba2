import { InvariantError } from "../../../base/errors.ts";
import { concatBytes } from "../../../base/primitives/bytes.ts";
import { pushSigned, unsigned } from "../../../base/wasm/code.ts";

/** Export of the global that counts loop turns down: set by the owner of the instance, at 0 `check` is called. */
export const METER = "meter";

const SECTION = { import: 2, global: 6, export: 7, code: 10 } as const;
const MUTABLE_I32 = [0x7f, 0x01] as const;

/**
 * A copy of a WebAssembly module in which no loop runs unseen. Each turn of a loop decrements the exported global `meter`,
 * and a turn that finds it at 0 calls the imported function `check`, which resets it or throws. `check` is also called before
 * each bulk copy or fill, because one of those may move the whole memory. Code without a loop is bounded by its size and by
 * the stack, so `check` runs again after a bounded time whatever the module computes.
 *
 * @param check name of an imported function of type (i32) -> i32; the instrumented calls pass 0 and drop the result
 */
export function meterModule(module: Uint8Array, check: string): Uint8Array {
  const sections = sectionsOf(module);
  const globals = required(sections, SECTION.global);
  const meter = readUnsigned(globals, 0).value;
  const call = callOf(indexOfImport(required(sections, SECTION.import), check));
  const turn = turnOf(meter, call);
  const parts: Uint8Array[] = [module.subarray(0, 8)];
  for (const { id, body } of sections) {
    const metered = meteredSection(id, body, meter, { call, turn });
    parts.push(Uint8Array.of(id, ...unsigned(metered.length)), metered);
  }
  return concatBytes(...parts);
}

type Section = { readonly id: number; readonly body: Uint8Array };
type Inserted = { readonly call: Uint8Array; readonly turn: Uint8Array };

function meteredSection(id: number, body: Uint8Array, meter: number, inserted: Inserted): Uint8Array {
  if (id === SECTION.global) return appended(body, [...MUTABLE_I32, 0x41, 0x00, 0x0b]);
  if (id === SECTION.export) {
    const name = new TextEncoder().encode(METER);
    return appended(body, [...unsigned(name.length), ...name, 0x03, ...unsigned(meter)]);
  }
  return id === SECTION.code ? meteredCode(body, inserted) : body;
}

/** check(0), its result dropped. */
function callOf(check: number): Uint8Array {
  return Uint8Array.of(0x41, 0x00, 0x10, ...unsigned(check), 0x1a);
}

/** if (meter == 0) check(0); meter = meter - 1 */
function turnOf(meter: number, call: Uint8Array): Uint8Array {
  const index = unsigned(meter);
  const decrement: number[] = [0x23, ...index, 0x41];
  pushSigned(decrement, 1);
  decrement.push(0x6b, 0x24, ...index);
  return Uint8Array.of(0x23, ...index, 0x45, 0x04, 0x40, ...call, 0x0b, ...decrement);
}

function meteredCode(body: Uint8Array, inserted: Inserted): Uint8Array {
  const count = readUnsigned(body, 0);
  const parts: Uint8Array[] = [Uint8Array.from(unsigned(count.value))];
  let at = count.next;
  for (let i = 0; i < count.value; i++) {
    const size = readUnsigned(body, at);
    const end = size.next + size.value;
    const code = meteredFunction(body.subarray(size.next, end), inserted);
    parts.push(Uint8Array.from(unsigned(code.length)), code);
    at = end;
  }
  return concatBytes(...parts);
}

function meteredFunction(body: Uint8Array, { call, turn }: Inserted): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  const insert = (at: number, code: Uint8Array) => {
    parts.push(body.subarray(copied, at), code);
    copied = at;
  };
  for (let at = endOfLocals(body); at < body.length; ) {
    const next = endOfInstruction(body, at);
    const isBulk = body[at] === 0xfc && (body[at + 1] === 10 || body[at + 1] === 11);
    if (isBulk) insert(at, call);
    if (body[at] === LOOP) insert(next, turn);
    at = next;
  }
  return parts.length === 0 ? body : concatBytes(...parts, body.subarray(copied));
}

const LOOP = 0x03;

/** Number of LEB128 immediates by opcode, where it is fixed (WebAssembly specification 5.4). */
const IMMEDIATES: readonly (number | undefined)[] = byOpcode([
  ...[0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x12].map((op) => [op, 1] as const),
  ...[0x11, 0x13].map((op) => [op, 2] as const),
  ...range(0x20, 0x26).map((op) => [op, 1] as const),
  ...range(0x28, 0x3e).map((op) => [op, 2] as const),
  ...[0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2].map((op) => [op, 1] as const),
  ...[0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].map((op) => [op, 0] as const),
  ...range(0x45, 0xc4).map((op) => [op, 0] as const),
]);

/** The same for the opcodes after the prefix 0xfc. */
const BULK_IMMEDIATES = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1] as const;

function endOfInstruction(body: Uint8Array, at: number): number {
  const opcode = body[at]!;
  if (opcode === 0x43) return at + 5;
  if (opcode === 0x44) return at + 9;
  if (opcode === 0x0e || opcode === 0x1c) {
    const { value, next } = readUnsigned(body, at + 1);
    return skipLebs(body, next, opcode === 0x0e ? value + 1 : value);
  }
  if (opcode === 0xfc) {
    const { value, next } = readUnsigned(body, at + 1);
    const count = BULK_IMMEDIATES[value];
    if (count === undefined) throw new InvariantError(`unknown opcode 0xfc ${value}`);
    return skipLebs(body, next, count);
  }
  const count = IMMEDIATES[opcode];
  if (count === undefined) throw new InvariantError(`unknown opcode 0x${opcode.toString(16)}`);
  return skipLebs(body, at + 1, count);
}

function endOfLocals(body: Uint8Array): number {
  const groups = readUnsigned(body, 0);
  let at = groups.next;
  for (let i = 0; i < groups.value; i++) at = readUnsigned(body, at).next + 1;
  return at;
}

function skipLebs(bytes: Uint8Array, from: number, count: number): number {
  let at = from;
  for (let i = 0; i < count; i++) {
    while (bytes[at]! >= 0x80) at++;
    at++;
  }
  return at;
}

/** `body`, a vector, with one element more. */
function appended(body: Uint8Array, element: readonly number[]): Uint8Array {
  const count = readUnsigned(body, 0);
  const size = Uint8Array.from(unsigned(count.value + 1));
  return concatBytes(size, body.subarray(count.next), Uint8Array.from(element));
}

function indexOfImport(body: Uint8Array, name: string): number {
  const count = readUnsigned(body, 0);
  let at = count.next;
  let functions = 0;
  const text = () => {
    const size = readUnsigned(body, at);
    at = size.next + size.value;
    return new TextDecoder().decode(body.subarray(size.next, at));
  };
  for (let i = 0; i < count.value; i++) {
    text();
    const field = text();
    const kind = body[at++]!;
    if (kind === 0 && field === name) return functions;
    if (kind === 0) functions++;
    if (kind === 3) throw new InvariantError("a module with imported globals");
    if (kind === 1) at++;
    at = kind === 0 ? skipLebs(body, at, 1) : skipLebs(body, at + 1, body[at]! & 1 ? 2 : 1);
  }
  throw new InvariantError(`no import ${name}`);
}

function sectionsOf(module: Uint8Array): Section[] {
  const sections: Section[] = [];
  for (let at = 8; at < module.length; ) {
    const size = readUnsigned(module, at + 1);
    const end = size.next + size.value;
    sections.push({ id: module[at]!, body: module.subarray(size.next, end) });
    at = end;
  }
  return sections;
}

function required(sections: readonly Section[], id: number): Uint8Array {
  const found = sections.find((section) => section.id === id);
  if (!found) throw new InvariantError(`a module without section ${id}`);
  return found.body;
}

function readUnsigned(bytes: Uint8Array, from: number): { value: number; next: number } {
  let value = 0;
  let scale = 1;
  let at = from;
  for (;;) {
    const byte = bytes[at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, next: at };
    scale *= 0x80;
  }
}

function byOpcode(pairs: readonly (readonly [number, number])[]): (number | undefined)[] {
  const counts: (number | undefined)[] = Array(256).fill(undefined);
  for (const [opcode, count] of pairs) counts[opcode] = count;
  return counts;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
