/** `evmintd` from its sources, of before Amsterdam and the forks after it: what an operator runs who missed an upgrade. */
import { TIME_FORK_FIELDS } from "../../src/base/params/hardforks.ts";

const known = TIME_FORK_FIELDS as unknown as string[];
known.splice(known.indexOf("amsterdamTime"));
const { main } = await import("../../src/cli/main.ts");
await main();
