import { createInterpreter } from "../src/evm/interpreters.ts";
import { MEMORY } from "../src/evm/layout.ts";
import { LinearMemory } from "../src/evm/linear-memory.ts";
import { keccak256Message } from "../src/primitives/keccak.ts";

const m = new LinearMemory();
const host = new Proxy(
  {},
  {
    get: () => () => 0,
    ownKeys: () => [
      "isOutOfTime",
      "load",
      "access",
      "delegate",
      "exhausted",
      "blockHash",
      "extCodeCopy",
      "log",
      "step",
    ],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  },
) as any;
const i = createInterpreter("cancun", "fast", m.memory, host);
const out = new Uint8Array(32);
for (let r = 0; r < 8; r++) {
  let t = performance.now();
  for (let k = 0; k < 100000; k++) i.keccak(MEMORY, 32, 0x1b00);
  const a = performance.now() - t;
  t = performance.now();
  for (let k = 0; k < 100000; k++) keccak256Message(32, out, 0);
  const b = performance.now() - t;
  console.log("mine", (a * 10).toFixed(0), "primitives", (b * 10).toFixed(0));
}
