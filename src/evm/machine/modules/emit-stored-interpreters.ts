import { emitInterpreter } from "../gen/interpreter.ts";
import type { Build } from "../gen/loop.ts";
import { rulesOf } from "../rules.ts";
import { TEMPLATE_SEED } from "./interpreters.ts";

/** What calls run on, what an estimate of gas needs where the gas ends, and what traces of accesses need. */
const BUILDS: readonly Build[] = ["fast", "perOpcode", "perAccess"];

/** What `STORED_INTERPRETERS` has in a build: the interpreters of a new chain. */
export function emitStoredInterpreters(): Readonly<Record<string, string>> {
  const textOf = (build: Build) =>
    Buffer.from(emitInterpreter(rulesOf("osaka"), build, TEMPLATE_SEED)).toString("base64");
  return Object.fromEntries(BUILDS.map((build) => [`osaka ${build}`, textOf(build)]));
}
