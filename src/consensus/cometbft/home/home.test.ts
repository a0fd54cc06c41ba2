import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "smol-toml";
import { engineConfigToml } from "./config.ts";
import { createEngineKeys, engineRpcSocket, writeEngineConfig } from "./home.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-home-"));
after(() => rmSync(folder, { recursive: true }));

test("CometBFT's RPC has no port: a socket in its home, which only its user can enter", () => {
  const directory = join(folder, "cometbft");
  createEngineKeys(directory);
  chmodSync(directory, 0o755);
  const socket = engineRpcSocket(directory);
  writeFileSync(socket, "left by a run that was killed");
  const toml = engineConfigToml({
    abciSocket: "/s",
    moniker: "m",
    p2pAddress: "0.0.0.0:1",
    externalAddress: "",
    isLocalNet: false,
    blockTimeMs: 1000,
    doubleSignCheckHeight: 0,
    peers: { persistent: [], trusted: [], rejected: [] },
  });
  writeEngineConfig(directory, toml);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(existsSync(socket), false);
  const { rpc, ...others } = parse(toml) as { rpc: { laddr: string } };
  assert.equal(join(directory, rpc.laddr.replace("unix://", "")), socket);
  const listeners = JSON.stringify(others).match(/tcp:\/\/[^"]*/g);
  assert.deepEqual(listeners, ["tcp://0.0.0.0:1"], "the port for peers");
});

test("a home whose path is too long for a socket is an error that says so", () => {
  const home = (length: number) => join("/", "h".repeat(length - 1));
  assert.throws(() => engineRpcSocket(join(home(90), "cometbft")), {
    code: "ABCI_SOCKET_PATH_TOO_LONG",
  });
  assert.equal(engineRpcSocket(join(home(89), "cometbft")).length, 107);
});
