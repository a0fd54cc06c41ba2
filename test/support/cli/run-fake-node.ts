/** The command line on a real process with a node that does nothing; with `hang` for its first argument it never stops. */

import { main } from "../../../src/cli/main.ts";
import type { NodeOperations } from "../../../src/node/roles/types.ts";
import { fakeNode } from "./fake-context.ts";

const [hang] = process.argv.splice(2, 1);
// Something has to keep a process alive that has no listener.
const alive = setInterval(() => {}, 1000);
const never = new Promise<void>(() => {});
const node = fakeNode({
  async stop() {
    clearInterval(alive);
    process.stdout.write("stopping\n");
    if (hang === "hang") await never;
  },
});
await main(async () => ({ startNode: async () => node }) as Partial<NodeOperations> as NodeOperations);
