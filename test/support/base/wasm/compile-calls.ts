/** Compiles functions that call each other in both ways, runs them until V8 optimises them, and prints the sum. Runs in a separate process. */
import { i64 } from "../../../../src/base/wasm/code.ts";
import { compileModule, compileOptimised } from "../../../../src/base/wasm/compile.ts";
import { call } from "../../../../src/base/wasm/function.ts";
import { ModuleBuilder } from "../../../../src/base/wasm/module.ts";

const CALLS = 200_000;

const builder = new ModuleBuilder();
const increment = builder.define(["i64"], ["i64"], (f, x) => f.return(i64.add(x!, i64.of(1n))));
const twice = builder.define(["i64"], ["i64"], (f, x) => f.return(call(increment, call(increment, x!))));
builder.export("twice", twice);
const bytes = builder.bytes();

let sum = 0n;
for (const compile of [compileModule, compileOptimised, compileModule]) {
  const { exports } = new WebAssembly.Instance(compile(bytes), {
    host: { memory: new WebAssembly.Memory({ initial: 1 }) },
  });
  const run = exports["twice"] as (x: bigint) => bigint;
  for (let i = 0; i < CALLS; i++) sum = run(sum);
}
process.stdout.write(String(sum));
