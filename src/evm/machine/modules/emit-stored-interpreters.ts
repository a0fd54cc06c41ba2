import { emitInterpreter } from "../gen/interpreter.ts";
import type { Build } from "../gen/loop.ts";
import { rulesOf } from "../rules.ts";
import { TEMPLATE_SEED } from "./interpreters.ts";
import { type PackedInterpreters, packInterpreters } from "./packed-interpreters.ts";

/** What calls run on, what an estimate of gas needs where the gas ends, and what traces of accesses need. */
const BUILDS: readonly Build[] = ["fast", "perOpcode", "perAccess"];

/** What `storedInterpreter` finds in a build: the interpreters of a new chain. */
export function emitStoredInterpreters(): Readonly<Record<string, Uint8Array>> {
  const emit = (build: Build) => emitInterpreter(rulesOf("osaka"), build, TEMPLATE_SEED);
  return Object.fromEntries(BUILDS.map((build) => [`osaka ${build}`, emit(build)]));
}

export function packStoredInterpreters(): PackedInterpreters {
  return packInterpreters(emitStoredInterpreters());
}
