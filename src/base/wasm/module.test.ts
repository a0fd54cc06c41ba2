import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { i32, i64, memory, v128 } from "./code.ts";
import { call, type FunctionBuilder } from "./function.ts";
import { ModuleBuilder } from "./module.ts";

const linear = new WebAssembly.Memory({ initial: 1 });

/** The exports of a module that `build` fills. */
function instantiate(build: (module: ModuleBuilder) => void, host: Record<string, unknown> = {}) {
  const module = new ModuleBuilder();
  build(module);
  const compiled = new WebAssembly.Module(module.bytes());
  const { exports } = new WebAssembly.Instance(compiled, { host: { ...host, memory: linear } });
  return exports as Record<string, (...args: (number | bigint)[]) => number | bigint>;
}

test("constants of any size come out as they went in", () => {
  fc.assert(
    fc.property(fc.bigInt(-(1n << 63n), (1n << 63n) - 1n), (value) => {
      const small = Number(BigInt.asIntN(32, value));
      const { wide, narrow } = instantiate((module) => {
        module.export(
          "wide",
          module.define([], ["i64"], (f) => f.return(i64.of(value))),
        );
        module.export(
          "narrow",
          module.define([], ["i32"], (f) => f.return(i32.of(small))),
        );
      });
      assert.equal(wide!(), value);
      assert.equal(narrow!(), small);
    }),
    { numRuns: 50 },
  );
});

test("a loop with a way out adds up", () => {
  const { sum } = instantiate((module) => {
    const add = module.define(["i32"], ["i32"], (f: FunctionBuilder, n) => {
      const total = f.i32(0);
      f.block((done) =>
        f.loop((again) => {
          f.brIf(done, i32.eqz(n!));
          f.set(total, i32.add(total, n!));
          f.set(n!, i32.sub(n!, 1));
          f.br(again);
        }),
      );
      f.return(i32.of(total));
    });
    module.export("sum", add);
  });
  assert.equal(sum!(100), 5050);
});

test("a table of branches takes the case of its index and the default beyond", () => {
  const { pick } = instantiate((module) => {
    const ref = module.define(["i32"], ["i32"], (f, n) => {
      f.block((other) => {
        f.block((second) => {
          f.block((first) => f.brTable(n!, [first, second], other));
          f.return(i32.of(10));
        });
        f.return(i32.of(20));
      });
      f.return(i32.of(30));
    });
    module.export("pick", ref);
  });
  assert.deepEqual(
    [0, 1, 2, 99].map((n) => pick!(n)),
    [10, 20, 30, 30],
  );
});

test("variables of a scope are used again, each with its own type", () => {
  const { mix } = instantiate((module) => {
    const ref = module.define(["i64"], ["i64"], (f, value) => {
      f.scope(() => f.do(i64.store(0, f.i64(i64.add(value!, 1n)))));
      f.scope(() => f.do(v128.store(16, f.v128(v128.load(0)))));
      f.do(memory.copy(32, 16, 8));
      f.return(i64.load(32));
    });
    module.export("mix", ref);
  });
  assert.equal(mix!(41n), 42n);
});

test("imports are called by name, with their arguments in order", () => {
  const seen: number[][] = [];
  const { go } = instantiate(
    (module) => {
      const log = module.import("log", ["i32", "i32"], []);
      module.export(
        "go",
        module.define([], [], (f) => f.do(call(log, 1, 2))),
      );
    },
    { log: (...args: number[]) => seen.push(args) },
  );
  go!();
  assert.deepEqual(seen, [[1, 2]]);
});
