import { proseOf as linesOf, sources } from "./page.ts";
import { TEXTS } from "./rpc-texts.ts";

/** `/** … *\/ export const x = defineMethod({ name: "a_b"`, and other functions that take the name first. */
const DECLARATION =
  /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*(?:export )?const \w+ = \w+\(\s*(?:\{\s*name: )?(?:\w+, )?"(\w+)"/g;
const SHARED_DECLARATION =
  /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*(?:export )?const \w+ = controlMethods\(\{\s*names: ([^;]*?),\s*params/g;

/** What the comments above the declarations say, by method: without the tags, and without the name in front. */
export function methodTexts(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [path, text] of sources()) {
    if (!path.startsWith("rpc/")) continue;
    for (const [, comment = "", name = ""] of text.matchAll(DECLARATION)) found.set(name, proseOf(comment));
    for (const [, comment = "", names = ""] of text.matchAll(SHARED_DECLARATION)) {
      for (const name of namesIn(names)) found.set(name, proseOf(comment));
    }
  }
  for (const [name, text] of Object.entries(TEXTS)) found.set(name, text);
  return found;
}

/** The names that `bothNames("x", "a_b")` or `["a_b", …]` lists. */
function namesIn(source: string): string[] {
  const quoted = [...source.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
  return quoted.flatMap((name) => (name.includes("_") ? [name] : [`hardhat_${name}`, `anvil_${name}`]));
}

function proseOf(comment: string): string {
  const words = linesOf(comment.replace(/^\s*\*\s*@(?:throws|see)[\s\S]*/m, ""));
  const prose = words
    .replace(/\s@(?:throws|see)\s.*$/, "")
    .replace(/\s+/g, " ")
    .trim();
  const text = prose.replace(/^`\w+`(?: \([^)]*\))?: /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
