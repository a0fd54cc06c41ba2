/** `evmintd` from its sources, of before Osaka and the forks after it: what an operator runs who missed an upgrade. */
import { TIME_FORK_FIELDS } from "../../src/base/params/fork-id.ts";

const known = TIME_FORK_FIELDS as unknown as string[];
known.splice(known.indexOf("osakaTime"));
const { main } = await import("../../src/cli/main.ts");
await main();
