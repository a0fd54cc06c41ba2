import { loadBundle } from "./load-bundle.ts";

/** The command line, run by `bin/evmintd.js`. */
const { exports, saveCodeCache } = loadBundle();
// The longest commands are those whose start people wait for; a cache of less would make it slower.
if (["start", "anvil"].includes(process.argv[2] ?? "")) process.once("exit", saveCodeCache);
await exports.main();
