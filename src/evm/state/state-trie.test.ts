import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createMemoryState, type MemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import { createMemoryNodes } from "../../../test/support/store/trie/memory-nodes.ts";
import { NO_CACHE } from "../../../test/support/store/trie/no-cache.ts";
import type { GenesisAccount, GenesisAlloc } from "../../base/params/genesis-account.ts";
import { type Address, parseAddress, ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashToBytes, parseHash, ZERO_HASH } from "../../base/primitives/hash.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { decodeRlp, rlpItemEnd } from "../../base/primitives/rlp.ts";
import { decodeBlock } from "../../base/types/block-codec.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import { verifyProof } from "../../store/trie/proof.ts";
import type { StateChanges } from "./reader.ts";
import { changesOfAlloc } from "./state-changes.ts";
import { createStateTrie, type KnownState } from "./state-trie.ts";
import { decodeTrieAccount } from "./trie-account.ts";
import { UnstoredTrie } from "./unstored-trie.ts";
import { createWorldState } from "./world-state.ts";

const fixtures = process.env["EVMINT_FIXTURES"] ?? "../shared/fixtures";
const addresses = [...new Array(40).keys()].map((n) => `0x${(n + 1).toString(16).padStart(40, "0")}` as Address);
const slots = [...new Array(12).keys()].map((n) => hashFromBigint(BigInt(n)));

/** A state trie that keeps its nodes, and caches none. */
function keepingTrie() {
  const nodes = createMemoryNodes();
  const trie = createStateTrie(nodes, { cache: NO_CACHE });
  return {
    prove: trie.prove,
    update(root: Hash, changes: StateChanges, known?: KnownState): Hash {
      const update = trie.update(root, changes, known);
      nodes.keep(update.nodes);
      return update.root;
    },
  };
}

/** All of `state` as a difference from nothing. */
function everything(state: MemoryState): StateChanges {
  const accounts = [...state.accounts()].map(([address, account]) => {
    const storage = new Map(state.storageEntries(address));
    return { address, account, storage, storageCleared: false };
  });
  return { accounts, codes: new Map() };
}

const action = fc.oneof(
  fc.record({
    do: fc.constant("set" as const),
    address: fc.constantFrom(...addresses),
    nonce: fc.bigInt(0n, 300n),
    balance: fc.bigInt(0n, 2n ** 128n),
  }),
  fc.record({
    do: fc.constant("slot" as const),
    address: fc.constantFrom(...addresses),
    slot: fc.constantFrom(...slots),
    value: fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 256n - 1n)),
  }),
  fc.record({ do: fc.constant("delete" as const), address: fc.constantFrom(...addresses) }),
);

test("update block by block gives the root of the whole state at once, and proofs of each root stay", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(action, { maxLength: 60, size: "max" }), { minLength: 1, maxLength: 5 }),
      (blocks) => {
        const trie = keepingTrie();
        const unstored = new UnstoredTrie(createMemoryNodes(), EMPTY_TRIE_ROOT);
        const state = createMemoryState();
        let root = EMPTY_TRIE_ROOT;
        const check: (() => void)[] = [];
        for (const actions of blocks) {
          const world = createWorldState(state);
          for (const a of actions) {
            if (a.do === "delete") world.deleteAccount(a.address);
            else if (a.do === "set") {
              world.setAccount(a.address, { ...a, codeHash: EMPTY_CODE_HASH });
            } else if (world.account(a.address)) world.setStorage(a.address, a.slot, a.value);
          }
          const changes = world.changes();
          state.apply(changes);
          root = trie.update(root, changes, world.readOfBase());
          const whole = keepingTrie().update(EMPTY_TRIE_ROOT, everything(state));
          assert.equal(root, whole);
          assert.equal(unstored.update(changes), whole);
          const checked = root;
          for (const address of addresses.slice(0, 6)) {
            const account = state.account(address);
            const values = slots.map((slot) => state.storage(address, slot));
            check.push(() => checkProof(trie, checked, address, account, values));
          }
        }
        for (const run of check) run();
      },
    ),
    { numRuns: 60 },
  );
});

function checkProof(
  trie: ReturnType<typeof keepingTrie>,
  root: Hash,
  address: Address,
  account: ReturnType<MemoryState["account"]>,
  values: readonly bigint[],
): void {
  const { accountProof, storageRoot, storageProofs } = trie.prove(root, address, slots);
  const leaf = verifyProof(hashToBytes(root), keccak256(hexToBytes(address)), accountProof);
  assert.deepEqual(
    storageProofs.map(({ slot, value }) => [slot, value]),
    slots.map((slot, index) => [slot, values[index]]),
  );
  if (account === undefined) {
    assert.equal(leaf, undefined);
    assert.equal(storageRoot, undefined);
    return;
  }
  const { nonce, balance, codeHash, storageRoot: provenRoot } = decodeTrieAccount(leaf!);
  assert.deepEqual(
    { nonce, balance, codeHash },
    { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash },
  );
  assert.deepEqual(hashToBytes(storageRoot!), provenRoot);
  for (const { slot, value, proof } of storageProofs) {
    const stored = verifyProof(provenRoot, keccak256(hashToBytes(slot)), proof);
    assert.equal(stored === undefined ? 0n : bytesToBigint(decodeRlp(stored) as Uint8Array), value);
  }
}

test("prove gives an empty proof for a slot of an account without storage", () => {
  const trie = keepingTrie();
  const alloc = new Map([[addresses[0]!, { balance: 1n }]]);
  const root = trie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
  const { storageRoot, storageProofs } = trie.prove(root, addresses[0]!, [slots[1]!]);
  assert.equal(storageRoot, EMPTY_TRIE_ROOT);
  assert.deepEqual(storageProofs, [{ slot: slots[1], value: 0n, proof: [] }]);
});

const genesisFile = join(fixtures, "rpc-compat/genesis.json");
const chainFile = join(fixtures, "rpc-compat/chain.rlp");
const missing = [genesisFile, chainFile].filter((file) => !existsSync(file));

test("update makes the genesis state root that the recorded chain is built on", {
  skip: missing.length > 0 && `left out, not found: ${missing.join(", ")}`,
}, () => {
  const genesis = JSON.parse(readFileSync(genesisFile, "utf8"));
  const stateRoot = keepingTrie().update(EMPTY_TRIE_ROOT, changesOfAlloc(readAlloc(genesis.alloc)));
  const chain = readFileSync(chainFile);
  const { header } = decodeBlock(chain.subarray(0, rlpItemEnd(chain, 0)));
  assert.equal(header.number, 1);
  const genesisHash = headerHash({
    parentHash: ZERO_HASH,
    sha3Uncles: header.sha3Uncles,
    coinbase: ZERO_ADDRESS,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: BigInt(genesis.difficulty),
    number: 0,
    gasLimit: BigInt(genesis.gasLimit),
    gasUsed: 0n,
    timestamp: Number(genesis.timestamp),
    extraData: hexToBytes(genesis.extraData),
    mixHash: parseHash(genesis.mixHash),
    nonce: new Uint8Array(8),
  });
  assert.equal(genesisHash, header.parentHash);
});

type AllocJson = Record<string, { balance: string; nonce?: string; code?: string; storage?: Record<string, string> }>;

function readAlloc(json: AllocJson): GenesisAlloc {
  return new Map(
    Object.entries(json).map(([address, { balance, nonce = "0x0", code = "0x", storage = {} }]) => {
      const account: GenesisAccount = {
        balance: BigInt(balance),
        nonce: BigInt(nonce),
        code: hexToBytes(code),
        storage: new Map(Object.entries(storage).map(([slot, value]) => [parseHash(slot), BigInt(value)])),
      };
      return [parseAddress(`0x${address}`), account];
    }),
  );
}
