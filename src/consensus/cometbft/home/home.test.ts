import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "smol-toml";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { genesisForks } from "../../chain-start.ts";
import { validatorPublicKey } from "../signing/key-files.ts";
import { engineConfigToml, engineGenesisJson } from "./config.ts";
import {
  assertEngineRules,
  createEngineGenesis,
  createEngineKeys,
  engineRpcSocket,
  namesForks,
  readStartingSet,
  readValidatorPower,
  writeEngineConfig,
} from "./home.ts";

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
    p2p: { isEnabled: true, seeds: [], privateIds: [], inboundMax: 40 },
    metricsAddress: "",
    additions: new Map(),
    blockTimeMs: 1000,
    key: { kind: "file" },
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

test("a genesis says which power validators have, and are voted in with; one of before says nothing: 1", () => {
  const directory = join(folder, "genesis");
  createEngineKeys(directory);
  const publicKey = validatorPublicKey(directory);
  const text = engineGenesisJson({
    chainId: 9000n,
    genesisTime: 1_700_000_000,
    initialHeight: 1,
    genesisHash: ZERO_HASH,
    validators: [{ publicKey, name: "v0" }],
  });
  createEngineGenesis(directory, text);
  const { validators, app_state, ...rest } = JSON.parse(text);
  assert.equal(validators[0].power, "10");
  assert.equal(readValidatorPower(directory), 10);
  assert.deepEqual(readStartingSet(directory).signers[0]!.publicKey, new Uint8Array(publicKey));

  const rewrite = (state: object) =>
    writeFileSync(join(directory, "config", "genesis.json"), JSON.stringify({ ...rest, validators, app_state: state }));
  rewrite({ evmGenesis: app_state.evmGenesis });
  assert.equal(readValidatorPower(directory), 1);
  for (const validatorPower of ["0", "1.5", "x", "", 10, "1e9", "-1"]) {
    rewrite({ validatorPower });
    assert.throws(() => readValidatorPower(directory), { code: "ENGINE_HOME" }, String(validatorPower));
  }
});

test("assertEngineRules compares the forks with which the network began, by name", () => {
  const directory = join(folder, "forks");
  createEngineKeys(directory);
  const config: ChainConfig = {
    chainId: 9000n,
    blobSchedule: {},
    londonBlock: 0,
    pragueTime: 0,
    osakaTime: 1_700_000_000,
    bpo1Time: 1_900_000_000,
  };
  const chain = {
    chainId: 9000n,
    genesisTime: 1_700_000_000,
    initialHeight: 1,
    genesisHash: ZERO_HASH,
    validators: [],
  };
  const write = (forks: string | undefined) => {
    const text = engineGenesisJson({ ...chain, ...(forks !== undefined && { forks }) });
    writeFileSync(join(directory, "config", "genesis.json"), text);
  };
  const began = { number: 0, timestamp: 1_700_000_000 };
  assert.equal(genesisForks(config, began), "londonBlock pragueTime osakaTime");
  for (const forks of [genesisForks(config, began), undefined]) {
    write(forks);
    assert.equal(namesForks(directory), forks !== undefined);
    // A later fork is named by blocks, and may be agreed on.
    assertEngineRules(directory, { ...config, bpo1Time: 1_800_000_000 });
  }
  write(genesisForks(config, began));
  for (const osakaTime of [1_990_000_000, undefined]) {
    assert.throws(
      () => assertEngineRules(directory, { ...config, osakaTime } as ChainConfig),
      (error: Error & { code: string }) => {
        assert.equal(error.code, "ENGINE_GENESIS_MISMATCH");
        assert.ok(error.message.includes("osakaTime") && !error.message.includes("pragueTime,"));
        return true;
      },
    );
  }
  assert.throws(() => assertEngineRules(directory, { ...config, cancunTime: 5 }), { code: "ENGINE_GENESIS_MISMATCH" });
});
