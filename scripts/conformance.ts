/** `npm run conformance -- SUITE …`: runs official vectors and closes with `N passed, N failed`. */
import type { Suite } from "../test/conformance/suite.ts";

const SUITES: Readonly<Record<string, () => Promise<{ readonly run: Suite }>>> = {
  "blockchain-tests": () => import("../test/conformance/blockchain-tests.ts"),
  fuzz: () => import("../test/fuzz/geth-evm.ts"),
  geth: () => import("../test/differential/run.ts"),
  peers: () => import("../test/peers/run.ts"),
  "rpc-compat": () => import("../test/conformance/rpc-compat.ts"),
  "state-tests": () => import("../test/conformance/state-tests.ts"),
  t8n: () => import("../test/conformance/t8n.ts"),
  "transaction-tests": () => import("../test/conformance/transaction-tests.ts"),
};

const [name = "", ...args] = process.argv.slice(2);
const load = SUITES[name];
if (!load) {
  console.error(`usage: npm run conformance -- SUITE …; suites: ${Object.keys(SUITES).join(", ")}`);
  process.exit(2);
}
const { run } = await load();
const { passed, failed } = await run(args);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
