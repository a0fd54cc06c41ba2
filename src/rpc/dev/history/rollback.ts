import { optional } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Removes the newest blocks, 1 unless more are asked for; their transactions are not pooled again. */
export const rollback = controlMethods({
  names: ["anvil_rollback"],
  params: { depth: optional(lenientCount, 1) },
  handle: ({ depth }, { dev }: DevModules) => dev.rollback(depth),
});
