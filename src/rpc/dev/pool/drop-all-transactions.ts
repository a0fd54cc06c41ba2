import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Empties the pool. */
export const dropAllTransactions = controlMethods({
  names: bothNames("dropAllTransactions"),
  params: {},
  handle: (_params, { dev }: DevModules) => dev.dropAll(),
});
