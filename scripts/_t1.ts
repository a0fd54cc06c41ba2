import { emitInterpreter } from "../src/evm/gen/interpreter.ts";
import { rulesOf } from "../src/evm/rules.ts";
import { setFlagsFromString } from "node:v8";
for (const [fork,b] of [["osaka","fast"],["prague","fast"],["osaka","perOpcode"],["frontier","fast"]] as const) {
let c=process.cpuUsage(); let t=performance.now(); const bytes = emitInterpreter(rulesOf(fork), b, [1n,3n,5n,7n]); let t1=performance.now(); let c1=process.cpuUsage(c);
setFlagsFromString("--no-liftoff"); setFlagsFromString("--no-wasm-lazy-compilation");
const m = new WebAssembly.Module(bytes); let t2=performance.now(); let c2=process.cpuUsage(c);
setFlagsFromString("--liftoff"); setFlagsFromString("--wasm-lazy-compilation");
console.log(fork,b,bytes.length, "emit",(t1-t).toFixed(1), "cpu", c1.user/1000, "compile", (t2-t1).toFixed(1), "cpu", (c2.user-c1.user)/1000);
}
