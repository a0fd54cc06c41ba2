/** Runs the sessions over nodes of their own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../src/base/telemetry/create-logger.ts";
import { overHttp, overIpc } from "../../test/support/clients.ts";
import { startTestNode, type TestNode, type TestNodeOptions } from "../../test/support/test-node.ts";
import { WsClient } from "../../test/support/ws-client.ts";
import { ROOT } from "../reference/page.ts";
import { type Examples, Recorder } from "./recorder.ts";
import { bendChain, moveClock } from "./session-dev.ts";
import { fillPool, readChain, sendTransactions } from "./session-eth.ts";
import {
  askValidator,
  inspectProcess,
  serveLightClients,
  switchListeners,
  switchWebSocket,
  takeTime,
  useKeys,
  useNames,
  whisper,
} from "./session-node.ts";
import { GENESIS_TIME, makeWorld, writeArtifacts } from "./world.ts";

/** Shown in place of the folder and the port of the node that answers. */
const HOME_SHOWN = "/home/you/.evmint/dev";
const PACKAGE_SHOWN = "/usr/lib/node_modules/evmint";
const PORT_SHOWN = "8545";

/** Enough blocks for one checkpoint. */
const SECTION = 128;
const CHECKPOINTS = { sectionSize: SECTION, confirmations: 1 };
const ORACLE = "0x9a9070028361f7aabeb3f2f2dc07f82c4a98a02a";

export type Sessions = {
  /** What takes seconds too: the compiler, encrypted keys, a copy of the heap. */
  readonly slow: boolean;
};

/** Examples of all methods but those that need a network (`record-network.ts`). */
export async function recordExamples({ slow }: Sessions): Promise<Examples> {
  const r = new Recorder();
  const artifacts = mkdtempSync(join(tmpdir(), "evmint-artifacts-"));
  writeArtifacts(artifacts);
  const ofDevChain = { timestamp: GENESIS_TIME, artifacts: artifacts };
  await onNode(r, { dev: true, settings: ofDevChain }, async (node) => {
    const ws = await WsClient.open(node.wsUrl);
    r.send = async (method, params) => {
      if (method.endsWith("ubscribe")) return { result: await ws.call(method, ...params) };
      return overHttp(node.url, method, params);
    };
    const overWs: typeof r.send = async (method, params) => ({ result: await ws.call(method, ...params) });
    const nextNotice = async (id: string) => ws.told(id)[0] ?? new Promise((resolve) => ws.on(id, resolve));
    try {
      const world = await makeWorld(r);
      await readChain(r, world);
      await sendTransactions(r, world, nextNotice);
      await fillPool(r, world);
      await inspectProcess(r, world);
      await askValidator(r, world);
      await useNames(r);
      await whisper(r);
      if (slow) {
        await useKeys(r, node.home);
        await takeTime(r);
      }
      await bendChain(r, world);
      await switchListeners(r, overWs);
      r.send = (method, params) => overIpc(node.ipcPath, method, params);
      await switchWebSocket(r);
    } finally {
      ws.close();
    }
  });
  rmSync(artifacts, { recursive: true });
  const settings = {
    "consensus.block-time": "manual",
    "les.serve": "50",
    "les.checkpoint-oracle": ORACLE,
  };
  await onNode(r, { dev: true, settings, limits: { checkpoints: CHECKPOINTS } }, async (node) => {
    // A caller over HTTP is a client with a capacity, which the calls of this session would use up.
    await overHttp(node.url, "eth_blockNumber");
    r.send = (method, params) => overIpc(node.ipcPath, method, params);
    await moveClock(r);
    r.on = "les";
    for (let i = 0; i < SECTION; i++) node.produceBlock();
    while ((await r.send("les_latestCheckpoint", [])).error) {}
    await serveLightClients(r);
    r.on = undefined;
  });
  return r.examples();
}

async function onNode(r: Recorder, options: TestNodeOptions, work: (node: TestNode) => Promise<void>) {
  const log = createLogger({ level: "error", format: "json", write() {} });
  const node = await startTestNode({ log, ...options });
  r.standIn(node.home, HOME_SHOWN);
  r.standIn(ROOT, PACKAGE_SHOWN);
  r.standIn(new URL(node.url).host, `127.0.0.1:${PORT_SHOWN}`);
  try {
    await work(node);
  } finally {
    await node.stop();
  }
}
