import { emitInterpreter } from "../gen/interpreter.ts";
import { rulesOf } from "../rules.ts";
import { TEMPLATE_SEED } from "./interpreters.ts";

/** What `STORED_INTERPRETERS` has in a build: the interpreter that a new chain runs on. */
export function emitStoredInterpreters(): Readonly<Record<string, string>> {
  const bytes = emitInterpreter(rulesOf("osaka"), "fast", TEMPLATE_SEED);
  return { "osaka fast": Buffer.from(bytes).toString("base64") };
}
