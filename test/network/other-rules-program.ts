/** `evmintd` from its sources, with a fault: the identity precompile costs 1,000 gas more. Blocks are as those of others until somebody calls it. */
import { identity } from "../../src/evm/machine/precompiles/04-identity.ts";

const { gas } = identity;
(identity as { gas: typeof gas }).gas = (...args) => gas(...args) + 1_000n;
const { main } = await import("../../src/cli/main.ts");
await main();
