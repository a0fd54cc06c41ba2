import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { STRICT_LOGGER } from "../../test/support/base/telemetry/strict-logger.ts";
import { makeHome } from "../../test/support/made-chain.ts";
import { type Hash, hashFromBigint } from "../base/primitives/hash.ts";
import { fatalTimers } from "../base/telemetry/fatal-timers.ts";
import { genesisPath } from "../node/config/home.ts";
import { loadConfig } from "../node/config/load.ts";
import { openChain } from "../node/roles/chain/open-chain.ts";
import { openGenesisDigest } from "./genesis-digest.ts";

const HASH: Hash = hashFromBigint(7n);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "evmint-genesis-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("openGenesisDigest remembers the hash of one text", () => {
  assert.equal(openGenesisDigest(directory, "a").hash(), undefined);
  openGenesisDigest(directory, "a").remember(HASH);
  assert.equal(openGenesisDigest(directory, "a").hash(), HASH);
  assert.equal(openGenesisDigest(directory, "b").hash(), undefined);
});

test("openGenesisDigest knows nothing where its file is damaged or cannot be written", () => {
  const digest = openGenesisDigest(directory, "a");
  digest.remember(HASH);
  const path = join(directory, "genesis.digest");
  const text = readFileSync(path, "latin1");
  for (const damaged of ["", text.slice(0, 70), text.replace("0x", ""), "\0".repeat(131)]) {
    writeFileSync(path, damaged);
    assert.equal(digest.hash(), undefined);
  }
  const nowhere = openGenesisDigest(join(directory, "none"), "a");
  nowhere.remember(HASH);
  assert.equal(nowhere.hash(), undefined);
});

test("openChain rejects another genesis file than the chain began with, remembered or not", () => {
  const home = makeHome(1_700_000_000);
  try {
    const { config } = loadConfig({ home, dev: false, flags: {}, environment: {} });
    const open = () => {
      const { store, chain, resumed } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
      store.close();
      return { hash: chain.genesisHash, resumed };
    };
    const first = open();
    assert.deepEqual(open(), { hash: first.hash, resumed: true });
    const text = readFileSync(genesisPath(home), "utf8");
    const other = text.replace(/"timestamp": "0x[0-9a-f]+"/, '"timestamp": "0x1"');
    assert.notEqual(other, text);
    writeFileSync(genesisPath(home), other);
    assert.throws(open, { code: "GENESIS_MISMATCH" });
    writeFileSync(genesisPath(home), `${text}\n`);
    assert.deepEqual(open(), { hash: first.hash, resumed: true });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
