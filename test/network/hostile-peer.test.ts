import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CHAIN_ID, eventually, Network, type NetworkNode, P2P_PORT, whyLeftOut } from "./network.ts";

const SOURCE = fileURLToPath(new URL("./hostile-peer", import.meta.url));
const HANDSHAKES = 10_000;
const CONNECTIONS = 8;
const SECONDS_MAX = 300;
/** Of the node's own log, whatever the peer makes CometBFT write. */
const LOG_CHARS_MAX = 1 << 20;
/** The node is looked at so often. */
const LOOK_MS = 500;

const AHEAD = "app block height (9) is higher than core (1)";
const REPLAY = "ERROR: failed to create node: error during handshake: error on replay: ";
const FAILURE = '{"level":"error","module":"consensus","_msg":"CONSENSUS FAILURE!!!","err":"x"}';
const TEXTS = [
  "CONSENSUS FAILURE!!!",
  "State sync failed",
  AHEAD,
  "app block height (3) is too far below block store base (9)",
  "panic: no space left on device",
  "block time is too far in the future (wall clock, tolerance 1m0s)",
  FAILURE,
  `\n${FAILURE}\n`,
  `\n${REPLAY}${AHEAD}\n`,
  `\r\nfatal error: ${AHEAD}\r\n`,
  `","_msg":"CONSENSUS FAILURE!!!","level":"error"}\n${FAILURE}`,
  "block time ahead ".repeat(500),
  `${"x".repeat(9_000)}\npanic: ${AHEAD}`,
];

type Report = Readonly<Record<"handshakes" | "accepted" | "failed" | "seconds", number>>;

test("ten thousand handshakes of a hostile peer neither stop a validator nor change its chain", {
  skip: whyLeftOut() || whyNoGo(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-hostile-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const binary = join(folder, "hostile-peer");
  const built = spawnSync("go", ["build", "-o", binary, "."], { cwd: SOURCE, encoding: "utf8" });
  assert.equal(built.status, 0, built.stderr);

  const network = await Network.start(1, 0);
  t.after(() => network.stop());
  const [node] = network.nodes as [NetworkNode];
  await eventually("it is ready", async () => {
    return (await node.height()) >= 3 && (await node.problem()) === undefined;
  });
  const first = await node.height();
  const [pid, engine] = node.pids();

  const peer = spawn(
    binary,
    [`127.0.0.1:${P2P_PORT}`, `evmint-${CHAIN_ID}`, HANDSHAKES, CONNECTIONS, SECONDS_MAX].map(String),
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  t.after(() => void peer.kill("SIGKILL"));
  peer.stdin.end(JSON.stringify(TEXTS));
  let isDone = false;
  const report = json(peer.stdout).then((result) => {
    isDone = true;
    return result as Report;
  });
  let height = first;
  let looks = 0;
  do {
    await setTimeout(LOOK_MS);
    const { status } = await fetch(`${node.url}/readyz`);
    assert.equal(status, 200, await node.problem());
    const now = await node.height();
    assert.ok(now >= height, `the head fell from ${height} to ${now}`);
    height = now;
    looks++;
  } while (!isDone);

  const { handshakes, accepted, failed, seconds } = await report;
  t.diagnostic(
    `${handshakes} handshakes in ${seconds.toFixed(1)} s, ${accepted} of them accepted, ${failed} connections ended early; ${height - first} blocks meanwhile, /readyz 200 in ${looks} of ${looks} looks`,
  );
  assert.equal(handshakes, HANDSHAKES);
  assert.ok(height > first, "blocks go on");
  await eventually("more blocks", async () => (await node.height()) >= height + 3);
  assert.deepEqual(node.pids(), [pid, engine], "CometBFT was not restarted");
  assert.ok(node.log().length < LOG_CHARS_MAX, `${node.log().length} characters of log`);
  assert.doesNotMatch(node.log(), /rolling back|stays down|restarting the engine/);
});

function whyNoGo(): string | false {
  const { error } = spawnSync("go", ["version"]);
  return error === undefined ? false : "left out: no Go toolchain on PATH";
}
