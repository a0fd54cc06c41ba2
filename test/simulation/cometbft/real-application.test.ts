import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { addressOfCompressedKey } from "../../../src/base/crypto/compressed-public-key.ts";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import { encodePooledTransaction } from "../../../src/base/types/transaction/encode.ts";
import { createAbciHandlers } from "../../../src/consensus/cometbft/abci/handlers.ts";
import { listenAbci } from "../../../src/consensus/cometbft/abci/server.ts";
import { engineConfigToml, engineGenesisJson } from "../../../src/consensus/cometbft/home/config.ts";
import {
  createEngineGenesis,
  createEngineKeys,
  engineRpcSocket,
  isEngineStoreEmpty,
  writeEngineConfig,
} from "../../../src/consensus/cometbft/home/home.ts";
import { createEngineRpc } from "../../../src/consensus/cometbft/rpc/client.ts";
import { validatorPublicKey } from "../../../src/consensus/cometbft/signing/key-files.ts";
import { CHAIN_ID, GENESIS_TIME, openTestApplication, transferOf } from "../../support/consensus/test-application.ts";
import { runCometBft } from "./run.ts";
import { SigningKeys } from "./signing-keys.ts";

test("the model drives the EVM application over real sockets, and its RPC is what the node decodes", async () => {
  const home = mkdtempSync(join(tmpdir(), "engine-"));
  createEngineKeys(home);
  const publicKey = validatorPublicKey(home);
  const address = addressOfCompressedKey(publicKey)!;
  const { application, chain } = openTestApplication({
    startingSet: { initialHeight: 1, signers: [{ address, publicKey }] },
  });
  const abciSocket = join(home, "abci.sock");
  const server = await listenAbci(
    { path: abciSocket, onEngineLost() {}, onFailure: (error) => assert.fail(String(error)) },
    createAbciHandlers({ version: "test", initialHeight: 1 }, application),
  );
  createEngineGenesis(
    home,
    engineGenesisJson({
      chainId: CHAIN_ID,
      genesisTime: GENESIS_TIME,
      initialHeight: 1,
      genesisHash: chain.genesisHash,
      validators: [{ publicKey, name: "v0" }],
    }),
  );
  writeEngineConfig(
    home,
    engineConfigToml({
      abciSocket,
      moniker: "m",
      p2pAddress: "127.0.0.1:1",
      externalAddress: "",
      peers: { persistent: [], trusted: [], rejected: [] },
      isLocalNet: true,
      p2p: { isEnabled: true, seeds: [], privateIds: [], inboundMax: 40 },
      metricsAddress: "",
      additions: new Map(),
      blockTimeMs: 60,
      key: { kind: "file" },
    }),
  );
  assert.equal(isEngineStoreEmpty(home), true);
  application.insertTx(encodePooledTransaction(transferOf(0, 0)));
  const reached = new Promise<void>((resolve) => {
    chain.subscribe(() => {
      if (chain.head().block.header.number === 5) resolve();
    });
  });
  const http = createServer();
  const timers = new Set<NodeJS.Timeout>();
  runCometBft(["start", "--home", home], {
    random: Math.random,
    keys: new SigningKeys(),
    system: {
      now: Date.now,
      after(ms, task) {
        const timer = setTimeout(task, ms);
        timers.add(timer);
        return () => clearTimeout(timer);
      },
      connect: (path) => connect(path.replace("unix://", "")),
      callRpc: () => assert.fail("no state sync"),
    },
    stdout() {},
    stderr: (line) => assert.fail(line),
    exit() {},
    onSignal() {},
    peers: () => ({ dial() {}, send() {}, disconnect() {} }),
    serveHttp(path, handler) {
      http.on("request", async (request, response) => {
        const answer = await handler({ method: request.method!, path: request.url!, body: await text(request) });
        response.writeHead(answer.status).end(answer.body);
      });
      http.listen(path.replace("unix://", ""));
    },
  });
  await reached;
  assert.equal(isEngineStoreEmpty(home), false);
  const rpc = createEngineRpc(engineRpcSocket(home), fatalTimers);
  const status = await rpc.status();
  assert.equal(status.votingPower, 10);
  assert.ok(status.latestHeight >= 4);
  assert.ok((await rpc.lightBlock(2)) !== undefined);
  assert.equal((await rpc.round()).totalPower, 10);
  for (const timer of timers) clearTimeout(timer);
  http.close();
  await server.close();
  rmSync(home, { recursive: true });
});
