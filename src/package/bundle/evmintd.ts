import { loadBundle } from "./load-bundle.ts";

/** The command line, run by `bin/evmintd.js`. */
const { exports, saveCodeCache } = loadBundle();
/** Commands that run a node, whose start users wait for; a code cache of other commands would slow it down. */
const NODES: ReadonlySet<string | undefined> = new Set(["start", "anvil"]);
const SHOWS_TEXT = /^(?:-h|-V|--help|--help-all|--version)$/;

const [command, ...args] = process.argv.slice(2);
if (NODES.has(command) && !args.some((arg) => SHOWS_TEXT.test(arg))) {
  // A failed start has not run the code that the next start needs.
  process.once("exit", (code) => {
    if (code === 0) saveCodeCache();
  });
}
void exports.main();
