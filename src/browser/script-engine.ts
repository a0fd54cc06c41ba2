import { loadQuickJs } from "./replacements/quickjs-file.ts";

/** Loads the engine of tracers written in JavaScript where `params` name one by its source. */
export async function loadScriptEngine(params: readonly unknown[]): Promise<void> {
  if (params.some(hasScript)) await loadQuickJs();
}

function hasScript(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) =>
    // A tracer of the node is a name.
    name === "tracer" && typeof member === "string" ? /\W/.test(member) : hasScript(member),
  );
}
