import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

const PAGE = "docs/operations/sentries.md";
const hasHaproxy = spawnSync("haproxy", ["-v"]).status === 0;

/** In place of a status. */
const NO_ANSWER = 0;

/** The backend of the page, with checks twice as often: an answer has as long as the pause between two of them. */
function backend(ports: readonly number[]): string {
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  const block = /```\n(backend evmint\n[^`]*)```/.exec(page)?.[1];
  assert.ok(block !== undefined, `${PAGE} has a backend of haproxy`);
  const addresses = ["10.0.0.11:8545", "10.0.0.12:8545"];
  const replaced = addresses.reduce((text, address, i) => text.replace(address, `127.0.0.1:${ports[i]}`), block);
  assert.ok(!replaced.includes("10.0.0."));
  return replaced.replaceAll("inter 2s", "inter 1s");
}

test("haproxy has a node for every call while nodes restart one after the other, by the page's configuration", {
  skip: !hasHaproxy && "haproxy is not on PATH",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-haproxy-"));
  const ports = [await freePort(), await freePort()];
  const start = (index: number) =>
    startEvmintd(join(folder, `node-${index}`), [
      "--dev",
      "--json-rpc.address",
      `127.0.0.1:${ports[index]}`,
      "--consensus.block-time",
      "500ms",
    ]);
  const nodes = [await start(0), await start(1)];
  const front = await freePort();
  const stats = await freePort();
  const file = join(folder, "haproxy.cfg");
  const defaults = "defaults\n    mode http\n    timeout connect 1s\n    timeout client 30s\n    timeout server 30s\n";
  const frontend = `frontend calls\n    bind 127.0.0.1:${front}\n    default_backend evmint\n`;
  const page = `listen stats\n    bind 127.0.0.1:${stats}\n    stats enable\n    stats uri /\n`;
  writeFileSync(file, `${defaults}${frontend}${page}${backend(ports)}`);
  const balancer = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  t.after(async () => {
    balancer.kill("SIGKILL");
    for (const node of nodes) node.child.kill("SIGTERM");
    await Promise.all(nodes.map(({ exited }) => exited));
    rmSync(folder, { recursive: true });
  });

  /** Of a server of the backend, as haproxy's checks have it. */
  async function stateOf(index: number): Promise<string | undefined> {
    const [header, ...rows] = (await (await fetch(`http://127.0.0.1:${stats}/;csv`)).text()).split("\n");
    const row = rows.find((each) => each.startsWith(`evmint,rpc-${index + 1},`));
    return row?.split(",")[header!.split(",").indexOf("status")];
  }

  /** Status of a call. */
  async function call(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${front}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
    });
    await response.arrayBuffer();
    return response.status;
  }
  const answers = async () => (await call().catch(() => NO_ANSWER)) === 200;
  await until(answers, "haproxy answers");

  const statuses = new Map<number, number>();
  let isCalling = true;
  const calling = (async () => {
    while (isCalling) {
      const status = await call().catch(() => NO_ANSWER);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  })();
  for (const index of [0, 1]) {
    nodes[index]!.child.kill("SIGTERM");
    await nodes[index]!.exited;
    await until(async () => (await stateOf(index)) === "DOWN", "haproxy takes the node out");
    nodes[index] = await start(index);
    // As the page has it: the next one is stopped once the balancer has this one again.
    await until(async () => (await stateOf(index)) === "UP", "haproxy has the node again");
  }
  isCalling = false;
  await calling;
  t.diagnostic(`${statuses.get(200)} calls`);
  const failed = [...statuses].filter(([status]) => status !== 200);
  // Only a call that is under way when a node is stopped, and this client has one at a time.
  assert.deepEqual(
    failed.filter(([status]) => status !== NO_ANSWER),
    [],
  );
  assert.ok((statuses.get(NO_ANSWER) ?? 0) <= nodes.length, String(failed));

  for (const { child } of nodes) child.kill("SIGTERM");
  await until(async () => (await call().catch(() => NO_ANSWER)) === 503, "503 without a node");
});
