import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGenesis } from "../../base/params/genesis.ts";
import { hashToBytes } from "../../base/primitives/hash.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { genesisState } from "../genesis-block.ts";
import { deferNothing } from "../store/background-work.ts";
import { createMemoryBlockStore } from "../store/open-block-store.ts";
import { measureState } from "./state-size.ts";

const ACCOUNTS = 300;
const CONTRACTS = 4;

/** Accounts of all sizes, and contracts with 40 to 160 slots of values of 1 to 32 bytes. */
function alloc(): Record<string, object> {
  const accounts: Record<string, object> = {};
  for (let i = 1; i <= ACCOUNTS; i++) {
    const balance = `0x${(BigInt(i) ** BigInt(1 + (i % 9))).toString(16)}`;
    const nonce = i % 5 === 0 ? { nonce: `0x${i.toString(16)}` } : {};
    accounts[`0x${(i * 7919).toString(16).padStart(40, "0")}`] = { balance, ...nonce };
  }
  for (let c = 1; c <= CONTRACTS; c++) {
    const storage: Record<string, string> = {};
    for (let s = 1; s <= 40 * c; s++) {
      storage[word(BigInt(s * c))] = word(BigInt(s) ** BigInt(1 + (s % 12)));
    }
    const code = `0x60${(c % 3).toString(16).padStart(2, "0")}${"00".repeat((c % 3) * 50)}`;
    accounts[`0x${c.toString(16).padStart(2, "0").repeat(20)}`] = { balance: "0x0", code, storage };
  }
  return accounts;
}

const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;

function genesisStore() {
  const store = createMemoryBlockStore({ defer: deferNothing, createTrie: createStateTrie });
  const text = JSON.stringify({
    config: { chainId: 7, terminalTotalDifficulty: 0 },
    gasLimit: "0x1c9c380",
    difficulty: "0x0",
    alloc: alloc(),
  });
  store.appendGenesis(genesisState(parseGenesis(text)));
  return {
    nodes: store.trieNodesAt(0),
    root: hashToBytes(store.header(0)!.stateRoot),
    codeLengths: store.codeLengths(),
  };
}

test("measureState counts what `geth db inspect` shows of the same genesis (v1.17, path scheme)", async () => {
  assert.deepEqual(await measureState(genesisStore(), () => {}), {
    accounts: { count: 304, bytes: 13_250 },
    slots: { count: 400, bytes: 28_304 },
    accountNodes: { count: 416, bytes: 50_589 },
    storageNodes: { count: 537, bytes: 54_624 },
    // geth has the empty code too, which has no row here.
    codes: { count: 3, bytes: 255 },
  });
});

test("measureState ends where its caller's time does", async () => {
  let asked = 0;
  const late = () => {
    if (++asked === 2) throw new RangeError("late");
  };
  await assert.rejects(measureState(genesisStore(), late), RangeError);
  assert.equal(asked, 2);
});
