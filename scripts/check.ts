/** `npm run check`: types, formatting and lint, exports that nothing imports, layer order, rules about sources, references of documents and comments, generated documentation. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkLayers } from "./check-layers.ts";
import { checkPaths } from "./check-paths.ts";
import { countSettings } from "./check-settings.ts";
import { checkSources } from "./check-sources.ts";
import { stalePages } from "./reference/reference.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let failed = false;

for (const [name, ...command] of [
  // Several checkers each check what they share: a quarter more CPU.
  ["types", "node_modules/.bin/tsc", "--noEmit", "--checkers", "1", "-p", "."],
  ["types of pages", "node_modules/.bin/tsc", "--noEmit", "--checkers", "1", "-p", "tsconfig.explorer.json"],
  ["format and lint", "node_modules/.bin/biome", "check", "--error-on-warnings", "."],
  ["exports", "node_modules/.bin/knip", "--include", "files,exports,types", "--no-progress", "--no-config-hints"],
] as const) {
  const [program, ...args] = command;
  const { status } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) failed = true;
  console.log(`${name}: ${status === 0 ? "ok" : "failed"}`);
}

const faults = checkLayers();
for (const fault of faults) console.error(fault);
console.log(`layers: ${faults.length === 0 ? "ok" : "failed"}`);

const breaches = checkSources();
for (const breach of breaches) console.error(breach);
console.log(`sources: ${breaches.length === 0 ? "ok" : "failed"}`);

const dead = checkPaths();
for (const reference of dead) console.error(reference);
console.log(`references: ${dead.length === 0 ? "ok" : "failed"}`);

const settings = countSettings();
const isWithinCount = settings.count <= settings.allowed;
const text = isWithinCount ? "ok" : `CHANGELOG.md allows ${settings.allowed}: say there why there are more`;
console.log(`settings: ${settings.count}, ${text}`);

const stale = stalePages();
console.log(`docs/rpc, docs/reference: ${stale.length === 0 ? "ok" : `${stale.join(", ")} stale, run npm run docs`}`);

const isSound = !failed && isWithinCount && faults.length === 0 && breaches.length === 0 && dead.length === 0;
process.exit(isSound && stale.length === 0 ? 0 : 1);
