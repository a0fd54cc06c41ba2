/** `npm run bench -- evm [engines | tracing | first-call | memory | hot-contracts | hostile-code]`: all of them in turn, or one. */
const PARTS: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  engines: () => import("./compare-engines.ts"),
  tracing: () => import("./tracing.ts"),
  "first-call": () => import("./first-call.ts"),
  memory: () => import("./memory.ts"),
  "hot-contracts": () => import("./hot-contracts.ts"),
  "hostile-code": () => import("./hostile-code.ts"),
};

export async function run([only]: readonly string[]): Promise<void> {
  if (only !== undefined && !PARTS[only]) {
    throw new Error(`no part "${only}"; parts: ${Object.keys(PARTS).join(", ")}`);
  }
  for (const [name, load] of Object.entries(PARTS)) {
    if (only === undefined || only === name) await (await load()).run();
  }
}
