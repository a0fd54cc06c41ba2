/** `node --import tsx bench/evm/first-call-alone.ts PROGRAM`: prints the milliseconds of making an engine and one execution. */
import { createEvm } from "../../src/evm/machine/engine.ts";
import { timeOnEngine } from "./engines.ts";
import { PROGRAMS, STOP } from "./programs.ts";

const program = [STOP, ...PROGRAMS].find(({ name }) => name === process.argv[2]);
if (!program) throw new Error(`no program "${process.argv[2]}"`);
const start = performance.now();
timeOnEngine(createEvm(), program);
console.log(performance.now() - start);
