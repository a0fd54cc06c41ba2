import type { ChainFacts, DifferentialCase } from "./request.ts";
import { SCRIPT_TRACERS, TRACERS } from "./tracers.ts";

/** Traces of every transaction and block of the chain. */
export function* minedCases({ blocks }: ChainFacts): Generator<DifferentialCase> {
  for (const { number, hash, transactions } of blocks) {
    const name = `mined block ${Number(number)}`;
    for (const config of [...TRACERS, ...SCRIPT_TRACERS]) {
      for (const tx of transactions) {
        yield { name, method: "debug_traceTransaction", params: [tx, config] };
      }
      if (SCRIPT_TRACERS.includes(config)) continue;
      yield { name, method: "debug_traceBlockByNumber", params: [number, config] };
    }
    yield { name, method: "debug_traceBlockByHash", params: [hash, { tracer: "callTracer" }] };
  }
}
