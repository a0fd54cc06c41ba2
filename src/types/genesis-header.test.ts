import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createMPT } from "@ethereumjs/mpt";
import { fixture, skipWithout } from "../../test/support/fixtures.ts";
import { allForksAtGenesis } from "../params/dev-chain.ts";
import { type Genesis, genesisFromJson, parseGenesis } from "../params/genesis.ts";
import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../primitives/hash.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import { decodeBlockAt } from "./block-codec.ts";
import { genesisHeader } from "./genesis-header.ts";
import { headerHash } from "./header-codec.ts";

const file = fixture("rpc-compat", "genesis.json");
const chain = fixture("rpc-compat", "chain.rlp");

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
  const dev = genesisFromJson({
    config: { chainId: 1 },
    difficulty: 0,
    gasLimit: 30_000_000,
    alloc: {},
  });
  const header = genesisHeader({ ...dev, config: allForksAtGenesis(1n) }, ZERO_HASH);
  assert.equal(header.baseFeePerGas, 1_000_000_000n);
  assert.equal(header.excessBlobGas, 0n);
  assert.equal(header.parentBeaconBlockRoot, ZERO_HASH);
  assert.ok(header.requestsHash);
});

/** The state root by an independent trie. */
async function stateRoot({ alloc }: Genesis): Promise<Hash> {
  const accounts = await createMPT({ useKeyHashing: true });
  for (const [address, { balance, nonce, code, storage }] of alloc) {
    const slots = await createMPT({ useKeyHashing: true });
    for (const [slot, value] of storage) {
      await slots.put(hashToBytes(slot), encodeRlp(bigintToBytes(value)));
    }
    const account = [bigintToBytes(nonce), bigintToBytes(balance), slots.root(), keccak256(code)];
    await accounts.put(addressToBytes(address), encodeRlp(account));
  }
  return hashFromBytes(accounts.root());
}
