import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hashToBytes } from "../../src/base/primitives/hash.ts";
import { type Hex, hexDigits, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256, keccak256Hash, keccak256OfHex } from "../../src/base/primitives/keccak.ts";
import { decodeRlp } from "../../src/base/primitives/rlp.ts";
import { decodeBlock } from "../../src/base/types/block-codec.ts";
import { EMPTY_CODE_HASH } from "../../src/base/types/constants.ts";
import { decodeHeader } from "../../src/base/types/header-codec.ts";
import { executeBlock } from "../../src/evm/execution/block/execute-block.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import type { StateReader } from "../../src/evm/state/reader.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { decodeTrieAccount, storageRootOf } from "../../src/evm/state/trie-account.ts";
import { ChunkedNodeCache } from "../../src/store/trie/node-cache.ts";
import { createTrie } from "../../src/store/trie/trie.ts";
import { send } from "../differential/geth.ts";
import { readRecording, writeChain } from "../differential/recording.ts";
import { type RecordedChain, startRecordedChain } from "../support/recorded-chain.ts";

type Witness = {
  readonly headers: readonly { readonly number: Hex; readonly hash: Hex }[];
  readonly codes: readonly Hex[];
  readonly state: readonly Hex[];
  readonly keys: null;
};

const recording = readRecording("scenario");
const dir = mkdtempSync(join(tmpdir(), "evmint-witness-"));
let chain: RecordedChain;
before(async () => {
  chain = await startRecordedChain(writeChain(recording, dir));
});
after(async () => {
  await chain.stop();
  rmSync(dir, { recursive: true });
});

async function ask<T>(method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await send(chain.url, method, params);
  assert.equal(error, undefined, method);
  return result as T;
}

/** The state that the witness has, and no other: what is missing throws. */
function stateOf({ codes, state }: Witness, root: Uint8Array) {
  const nodes = new Map(state.map((rlp) => [hexDigits(keccak256(hexToBytes(rlp))), hexToBytes(rlp)] as const));
  const byHash = new Map(codes.map((code) => [keccak256Hash(hexToBytes(code)), hexToBytes(code)]));
  const source = {
    node: (_owner: Uint8Array, _path: Uint8Array, hash: Uint8Array) => nodes.get(hexDigits(hash)),
  };
  const cache = new ChunkedNodeCache(1 << 20);
  const leafOf = (address: string) =>
    createTrie(source, cache, EMPTY_BYTES).get(root, keccak256OfHex(address as never));
  const reader: StateReader = {
    account(address) {
      const leaf = leafOf(address);
      return leaf && decodeTrieAccount(leaf);
    },
    storage(address, slot) {
      const leaf = leafOf(address);
      if (leaf === undefined) return 0n;
      const owner = keccak256OfHex(address);
      const value = createTrie(source, cache, owner).get(storageRootOf(leaf), keccak256OfHex(slot));
      return value === undefined ? 0n : bytesToBigint(decodeRlp(value) as Uint8Array);
    },
    code(codeHash) {
      if (codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES;
      const code = byHash.get(codeHash);
      assert.ok(code, `code ${codeHash} is in the witness`);
      return code;
    },
    *storageEntries() {},
  };
  return { reader, stateTrie: createStateTrie(source, { cacheBytes: 1 << 20 }) };
}

test("every block can be executed with its witness and nothing else, to the same state root", async () => {
  const { config } = parseGenesis(recording.chain!.genesis);
  const head = Number(await ask("eth_blockNumber"));
  assert.ok(head >= 8);
  for (let number = 1; number <= head; number++) {
    const at = `0x${number.toString(16)}`;
    const witness = await ask<Witness>("debug_executionWitness", at);
    const block = decodeBlock(hexToBytes(await ask("debug_getRawBlock", at)));
    assert.deepEqual(await ask("debug_executionWitnessByHash", block.hash), witness);
    const parentAt = `0x${(number - 1).toString(16)}`;
    const parent = decodeHeader(hexToBytes(await ask("debug_getRawHeader", parentAt)));
    assert.equal(witness.headers.at(-1)!.hash, block.header.parentHash);
    const hashes = new Map(witness.headers.map(({ number, hash }) => [Number(number), hash]));
    const { reader, stateTrie } = stateOf(witness, hashToBytes(parent.stateRoot));
    executeBlock(
      block,
      { header: parent, state: reader, blockHash: (wanted) => hashes.get(wanted) as never },
      { config, evm: createEvm(), stateTrie },
    );
  }
});

test("debug_executionWitness rejects genesis and unknown blocks", async () => {
  for (const [method, param] of [
    ["debug_executionWitness", "0x0"],
    ["debug_executionWitness", "0xffff"],
    ["debug_executionWitnessByHash", `0x${"11".repeat(32)}`],
  ] as const) {
    const { error } = await send(chain.url, method, [param]);
    assert.equal((error as { code: number }).code, -32000);
  }
  for (const param of [-1, "x", null]) {
    const { error } = await send(chain.url, "debug_executionWitness", [param]);
    assert.equal((error as { code: number }).code, -32602);
  }
});

test("debug_preimage finds addresses and slots of the state, and nothing else", async () => {
  const address = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
  assert.equal(await ask("debug_preimage", keccak256Hash(hexToBytes(address))), address);
  const slot = `0x${"00".repeat(31)}09` as Hex;
  assert.equal(await ask("debug_preimage", keccak256Hash(hexToBytes(slot))), slot);
  const { error } = await send(chain.url, "debug_preimage", [`0x${"11".repeat(32)}`]);
  assert.deepEqual(error, { code: -32000, message: "unknown preimage" });
});
