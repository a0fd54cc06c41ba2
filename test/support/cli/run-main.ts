/** What `bin/evmintd.js` does, from the sources: for tests that need a separate process. */
import { main } from "../../../src/cli/main.ts";

await main();
