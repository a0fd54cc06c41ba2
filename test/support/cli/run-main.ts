/** What `bin/evmintd.js` does, from the sources: for tests that need a process of their own. */
import { main } from "../../../src/cli/main.ts";

await main();
