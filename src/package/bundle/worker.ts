import { loadBundle } from "./load-bundle.ts";

/** A worker thread or process of the built node: its first argument names the module to run. */
await loadBundle().exports.runWorkerEntry(process.argv[2]!);
