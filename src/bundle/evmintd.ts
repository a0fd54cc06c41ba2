import { loadBundle } from "./load-bundle.ts";

/** The command line, run by `bin/evmintd.js`. */
const { exports, saveCodeCache } = loadBundle();
// The longest command is the one whose start people wait for; a cache of less would make it slower.
if (process.argv[2] === "start") process.once("exit", saveCodeCache);
await exports.main();
