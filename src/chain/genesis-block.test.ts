import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createMPT } from "@ethereumjs/mpt";
import { fixture, skipWithout } from "../../test/support/fixtures.ts";
import { allForksAtGenesis } from "../base/params/blob-schedule.ts";
import { type Genesis, genesisFromJson, parseGenesis } from "../base/params/genesis.ts";
import { addressToBytes } from "../base/primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../base/primitives/hash.ts";
import { keccak256 } from "../base/primitives/keccak.ts";
import { encodeRlp } from "../base/primitives/rlp.ts";
import { decodeBlockAt } from "../base/types/block-codec.ts";
import { headerHash } from "../base/types/header-codec.ts";
import { genesisBlock, genesisHeader } from "./genesis-block.ts";

const file = fixture("rpc-compat", "genesis.json");
const chain = fixture("rpc-compat", "chain.rlp");

const DEV = genesisFromJson({
  config: { chainId: 1 },
  difficulty: 0,
  gasLimit: 30_000_000,
  alloc: {},
});

test("genesisHeader has the hash that block 1 names as its parent", {
  skip: skipWithout(file && chain, "rpc-compat"),
}, async () => {
  const genesis = parseGenesis(readFileSync(file!, "utf8"));
  const { block } = decodeBlockAt(new Uint8Array(readFileSync(chain!)), 0);
  const header = genesisHeader(genesis, await stateRoot(genesis));
  assert.equal(headerHash(header), block.header.parentHash);
  assert.equal(header.baseFeePerGas, undefined);
});

test("genesisHeader of a dev chain has the fields of every fork", () => {
  const header = genesisHeader({ ...DEV, config: allForksAtGenesis(1n) }, ZERO_HASH);
  assert.equal(header.baseFeePerGas, 1_000_000_000n);
  assert.equal(header.excessBlobGas, 0n);
  assert.equal(header.parentBeaconBlockRoot, ZERO_HASH);
  assert.ok(header.requestsHash);
});

const amsterdam = fixture("amsterdam-chain", "genesis.json.gz");

test("genesisBlock of a file with Amsterdam is go-ethereum's, after block 0 and at it, with a slot number and without", {
  skip: skipWithout(amsterdam, "amsterdam-chain"),
}, () => {
  const text = gunzipSync(readFileSync(amsterdam!)).toString();
  const first = decodeBlockAt(new Uint8Array(gunzipSync(readFileSync(fixture("amsterdam-chain", "chain.rlp.gz")!))), 0);
  assert.equal(genesisBlock(parseGenesis(text)).block.hash, first.block.header.parentHash);
  const file = JSON.parse(text);
  for (const name of Object.keys(file.config)) if (name.endsWith("Time")) file.config[name] = 0;
  file.config.terminalTotalDifficulty = 0;
  const hashOf = (slot: object) => genesisBlock(genesisFromJson({ ...file, ...slot })).block.hash;
  assert.equal(hashOf({}), "0x4402c469e329576885deb541f07219e2159c90a8e1a2166eef170f5bdcaa0749");
  assert.equal(hashOf({ slotNumber: "0x2a" }), "0x59c29f82383359c47fe78c2de037c553d7522e2dca3862b1a5df744fdd79307b");
});

test("genesisHeader follows fork times also where the chain begins before the merge", () => {
  const config = { ...allForksAtGenesis(1n), terminalTotalDifficulty: 1_000_000n };
  const header = genesisHeader({ ...DEV, difficulty: 131_072n, config }, ZERO_HASH);
  assert.ok(header.withdrawalsRoot && header.requestsHash);
});

test("genesisHeader has geth's gas limit where the file gives none", () => {
  assert.equal(genesisHeader({ ...DEV, gasLimit: 0n }, ZERO_HASH).gasLimit, 4_712_388n);
});

/** The state root by an independent trie. */
async function stateRoot({ alloc }: Genesis): Promise<Hash> {
  const accounts = await createMPT({ useKeyHashing: true });
  for (const [address, account] of alloc) {
    const { balance, nonce = 0n, code = EMPTY_BYTES, storage = [] } = account;
    const slots = await createMPT({ useKeyHashing: true });
    for (const [slot, value] of storage) {
      await slots.put(hashToBytes(slot), encodeRlp(bigintToBytes(value)));
    }
    const leaf = [bigintToBytes(nonce), bigintToBytes(balance), slots.root(), keccak256(code)];
    await accounts.put(addressToBytes(address), encodeRlp(leaf));
  }
  return hashFromBytes(accounts.root());
}
