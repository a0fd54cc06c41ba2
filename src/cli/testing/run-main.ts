/** What `bin/evmintd.js` does, from the sources: for tests that need a process of their own. */
import { main } from "../main.ts";

await main();
