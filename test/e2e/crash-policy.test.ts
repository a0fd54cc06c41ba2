import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CRASH_EXIT_CODE } from "../../src/node/observe/crash-policy.ts";
import { call } from "../crash/victim.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startEvmintd } from "../support/evmintd.ts";

/** Loaded before the node: a bug that a signal sets off inside the event loop. */
const BUGS = `data:text/javascript,${encodeURIComponent(`
  process.on("SIGUSR2", () => { throw new TypeError("injected exception"); });
  process.on("SIGHUP", () => void Promise.reject(new TypeError("injected rejection")));
`)}`;

const isWindows = process.platform === "win32";

for (const [signal, fault] of [
  ["SIGUSR2", "injected exception"],
  ["SIGHUP", "injected rejection"],
] as const) {
  test(`an ${fault} in the event loop ends the process with code 70, after the store is closed`, {
    skip: isWindows,
  }, async () => {
    const home = mkdtempSync(join(tmpdir(), "evmint-crash-policy-"));
    try {
      const node = await startEvmintd(home, ["--dev"], ["--import", BUGS]);
      const hash = await call<string>(node.url, "eth_sendTransaction", [
        { from: DEV_ADDRESSES[0], to: DEV_ADDRESSES[1], value: "0x1" },
      ]);
      node.expectErrors(new RegExp(fault));
      node.child.kill(signal);
      assert.equal(await node.exited, CRASH_EXIT_CODE);
      assert.ok((node.output.stdout + node.output.stderr).includes(fault));
      assert.match(readFileSync(join(home, "data/index.state"), "latin1"), /^clean /);

      const next = await startEvmintd(home, ["--dev"]);
      const tx = await call<{ hash: string } | null>(next.url, "eth_getTransactionByHash", [hash]);
      assert.equal(tx?.hash, hash);
      assert.ok(!/(updating|updated) the index/.test(next.output.stderr));
      next.child.kill("SIGTERM");
      assert.equal(await next.exited, 0);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
}
