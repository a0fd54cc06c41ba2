import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { i32 } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import {
  assign,
  canonical,
  constant,
  decode,
  difference,
  ELEMENT_SIZE,
  encode,
  isZero,
  limbsAt,
  load,
  multiple,
  negative,
  PRIME,
  place,
  product,
  square,
  sumOfProducts,
} from "./field.ts";
import { defineFieldFunctions } from "./powers.ts";

const [A, B, C, RESULT, TEXT] = [0, 1, 2, 3, 4].map((n) => n * 256) as [...[number, number, number, number, number]];
const SCRATCH = 2048;

const memory = new WebAssembly.Memory({ initial: 1 });
const words = new BigUint64Array(memory.buffer);

function instantiate() {
  const module = new ModuleBuilder();
  const field = defineFieldFunctions(module, SCRATCH);
  const define = (name: string, build: Parameters<ModuleBuilder["define"]>[2]) =>
    module.export(name, module.define([], [], build));
  const [a, b, c, result] = [place(A), place(B), place(C), place(RESULT)];
  define("mul", (f) => f.do(call(field.mul, RESULT, A, B)));
  define("invert", (f) => f.do(call(field.invert, RESULT, A)));
  define("root", (f) => f.do(call(field.root, RESULT, A)));
  define("square", (f) => assign(f, result, () => square(f, load(f, a), { addend: negative(limbsAt(b), 4n) })));
  define("threeSquares", (f) => assign(f, result, () => square(f, load(f, a), { factor: 3n })));
  // The greatest operands that formulas use.
  define("triple", (f) =>
    assign(f, result, () => product(f, multiple(f, load(f, a), 3n), load(f, b), negative(limbsAt(c), 4n))),
  );
  define("products", (f) =>
    assign(f, result, () =>
      sumOfProducts(f, [load(f, a), difference(f, limbsAt(b), limbsAt(c))], [negative(load(f, a)), load(f, c)]),
    ),
  );
  module.export(
    "read",
    module.define(["i32", "i32"], [], (f, to, from) => assign(f, place(to!), () => decode(from!))),
  );
  // write(negate): RESULT or −RESULT in canonical form
  module.export(
    "write",
    module.define(["i32"], [], (f, negate) => {
      f.if(negate!, () => assign(f, result, () => product(f, negative(load(f, result)), constant(1n))));
      encode(f, i32.of(TEXT), canonical(f, load(f, result)));
    }),
  );
  module.export(
    "isZero",
    module.define([], ["i32"], (f) => f.return(i32.of(isZero(load(f, result))))),
  );
  return new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), { host: { memory } }).exports as Record<
    string,
    (...args: number[]) => number
  >;
}

const wasm = instantiate();

function put(address: number, value: bigint): void {
  for (let i = 0; i < 4; i++) words[TEXT / 8 + i] = value >> BigInt(64 * i);
  wasm["read"]!(address, TEXT);
}

function result(negate = 0): bigint {
  wasm["write"]!(negate);
  return words.subarray(TEXT / 8, TEXT / 8 + 4).reduceRight((sum, word) => (sum << 64n) | word, 0n);
}

const modulo = (value: bigint) => ((value % PRIME) + PRIME) % PRIME;

/** Any 256 bits: numbers from the prime on are not reduced. */
const elements = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(0n, 1n, PRIME - 1n, PRIME, PRIME + 1n, 2n ** 256n - 1n, 2n ** 255n, 2n ** 29n - 1n),
);

test("products, squares and their sums equal integers modulo the prime, in canonical form", () => {
  assert.equal(ELEMENT_SIZE, 72);
  fc.assert(
    fc.property(elements, elements, elements, (a, b, c) => {
      put(A, a);
      put(B, b);
      put(C, c);
      const expected: Record<string, bigint> = {
        mul: a * b,
        square: a * a - 4n * b,
        threeSquares: 3n * a * a,
        triple: 3n * a * b - 4n * c,
        products: a * (b - c) - a * c,
      };
      for (const [name, value] of Object.entries(expected)) {
        wasm[name]!();
        assert.equal(wasm["isZero"]!() === 1, modulo(value) === 0n, name);
        assert.equal(result(), modulo(value), name);
        assert.equal(result(1), modulo(-value), name);
      }
    }),
    { numRuns: 1000 },
  );
});

test("invert and root are powers with the exponents p − 2 and (p + 1) / 4", () => {
  fc.assert(
    fc.property(elements, (a) => {
      put(A, a);
      wasm["invert"]!();
      const inverse = result();
      assert.equal(modulo(a * inverse), modulo(a) === 0n ? 0n : 1n);
      put(A, modulo(a * a));
      wasm["root"]!();
      const root = result();
      assert.ok(root === modulo(a) || root === modulo(-a));
    }),
    { numRuns: 100 },
  );
});
