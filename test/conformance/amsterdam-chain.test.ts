import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { overHttp } from "../support/clients.ts";
import { fixture, skipWithout } from "../support/fixtures.ts";
import { startRecordedChain } from "../support/recorded-chain.ts";

/** The chain of go-ethereum 1.17.10's own tests: all forks from Shanghai on, Amsterdam in 565 of its 600 blocks. */
const directory = fixture("amsterdam-chain");
const HEAD = "0x9d78f73579811aa17b112188ce020cda4362b0d57a4a339a0c3911c4ace7220c";

type StateDump = {
  readonly root: string;
  readonly accounts: Readonly<Record<string, AccountDump>>;
};
type AccountDump = {
  readonly balance: string;
  readonly nonce: number;
  readonly code?: string;
  /** Values without leading zeros and without 0x. */
  readonly storage?: Readonly<Record<string, string>>;
};

test("evmintd import ends at the head and the state of go-ethereum's Amsterdam chain", {
  skip: skipWithout(directory, "amsterdam-chain"),
}, async (t) => {
  const read = (name: string) => gunzipSync(readFileSync(join(directory!, name)));
  const folder = mkdtempSync(join(tmpdir(), "evmint-amsterdam-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const genesisFile = join(folder, "genesis.json");
  const chainFile = join(folder, "chain.rlp");
  writeFileSync(genesisFile, read("genesis.json.gz"));
  writeFileSync(chainFile, read("chain.rlp.gz"));
  const node = await startRecordedChain({ genesisFile, chainFile });
  t.after(() => node.stop());
  const ask = async (method: string, ...params: readonly unknown[]) => {
    const { result, error } = await overHttp(node.url, method, params);
    assert.equal(error, undefined, method);
    return result;
  };

  const head = (await ask("eth_getBlockByNumber", "latest", false)) as Record<string, string>;
  const dump: StateDump = JSON.parse(read("headstate.json.gz").toString());
  assert.equal(head["number"], "0x258");
  assert.equal(head["hash"], HEAD);
  assert.equal(head["stateRoot"], `0x${dump.root}`);

  let slots = 0;
  for (const [address, { balance, nonce, code = "0x", storage = {} }] of Object.entries(dump.accounts)) {
    assert.equal(await ask("eth_getBalance", address, "latest"), toQuantity(BigInt(balance)), address);
    assert.equal(await ask("eth_getTransactionCount", address, "latest"), toQuantity(nonce), address);
    assert.equal(await ask("eth_getCode", address, "latest"), code, address);
    for (const [slot, value] of Object.entries(storage)) {
      const expected = `0x${value.padStart(64, "0")}`;
      assert.equal(await ask("eth_getStorageAt", address, slot, "latest"), expected, `${address} ${slot}`);
      slots++;
    }
  }
  assert.ok(Object.keys(dump.accounts).length === 48 && slots === 1814);
});
