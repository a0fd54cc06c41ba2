import { boolean, hash, nullable } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Takes a transaction out of the pool; whether it was there. */
export const dropTransaction = controlMethods({
  names: ["hardhat_dropTransaction"],
  params: { hash },
  result: boolean,
  handle: ({ hash }, { dev }: DevModules) => dev.drop(hash),
});

/** The same; the hash, or null when it was not pooled. */
export const dropTransactionByHash = controlMethods({
  names: ["anvil_dropTransaction"],
  params: { hash },
  result: nullable(hash),
  handle: async ({ hash }, { dev }: DevModules) => ((await dev.drop(hash)) ? hash : null),
});
