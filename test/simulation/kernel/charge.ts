import { currentSimulation } from "./current.ts";

/** Takes what work costs that runs in a thread; undefined: the main thread of the process pays. */
let payer: ((ms: number) => void) | undefined;

/** Lets `work` be paid by `pay`. */
export function chargeTo<T>(pay: (ms: number) => void, work: () => T): T {
  const before = payer;
  payer = pay;
  try {
    return work();
  } finally {
    payer = before;
  }
}

/** Work that takes a processor `ms`: nothing else happens in its thread meanwhile. */
export function charge(ms: number): void {
  if (payer) payer(ms);
  else currentSimulation()?.current?.compute(ms);
}
