import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint, hashFromBytes } from "../../src/base/primitives/hash.ts";
import { keccak256OfHex } from "../../src/base/primitives/keccak.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

type Dump = {
  readonly root: string;
  readonly accounts: Readonly<Record<string, DumpedAccount>>;
  readonly next?: string;
};
type DumpedAccount = {
  readonly balance: string;
  readonly nonce: number;
  readonly root: Hash;
  readonly codeHash: Hash;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
  readonly address: string;
  readonly key: Hash;
};
type Range = {
  readonly storage: Readonly<Record<Hash, { readonly key: Hash; readonly value: Hash }>> | null;
  readonly nextKey: Hash | null;
};

const SENDER = parseAddress(DEV_ADDRESSES[0]);
const RECEIVER = parseAddress(DEV_ADDRESSES[1]);
/** Stores 0xaa, 0xbb and 0xcc in slots 1 to 3; each call adds 1 to slot 1 and clears slot 3. */
const RUNTIME = "6001546001016001556000600355";
const INIT = `0x60aa60015560bb60025560cc600355600e80601a6000396000f3${RUNTIME}`;

let running: TestNode;
let contract: string;

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

async function send(transaction: object): Promise<{ contractAddress: string; blockHash: Hash }> {
  const hash = await request("eth_sendTransaction", {
    from: SENDER,
    gas: "0x30d40",
    ...transaction,
  });
  return request("eth_getTransactionReceipt", hash);
}

before(async () => {
  running = await startTestNode({ dev: true });
  const deployed = await send({ data: INIT });
  contract = deployed.contractAddress;
  await send({ to: contract });
  await send({ to: RECEIVER, value: "0x1" });
});
after(() => running.stop());

test("debug_dumpBlock has the accounts of the state after the block", async () => {
  const dump = await request<Dump>("debug_dumpBlock", "latest");
  const header = await request<{ stateRoot: string }>("eth_getBlockByNumber", "latest", false);
  assert.equal(dump.root, header.stateRoot.slice(2));
  const accounts = Object.values(dump.accounts);
  const found = accounts.find(({ address }) => address === contract);
  const proof = await request<{ storageHash: Hash; codeHash: Hash }>("eth_getProof", ...[contract, [], "latest"]);
  assert.deepEqual(found, {
    balance: "0",
    nonce: 1,
    root: proof.storageHash,
    codeHash: proof.codeHash,
    code: `0x${RUNTIME}`,
    storage: { [hashFromBigint(1n)]: "ab", [hashFromBigint(2n)]: "bb" },
    address: contract,
    key: hashFromBytes(keccak256OfHex(parseAddress(contract))),
  });
  assert.equal(dump.next, undefined);
  const old = await request<Dump>("debug_dumpBlock", 0);
  assert.equal(
    Object.values(old.accounts).some(({ address }) => address === contract),
    false,
  );
});

test("debug_accountRange walks all accounts page by page, in the order of their hashes", async () => {
  const whole = await request<Dump>("debug_dumpBlock", "latest");
  const seen: DumpedAccount[] = [];
  let start = "0x";
  for (let pages = 0; pages < 100; pages++) {
    const page = await request<Dump>("debug_accountRange", "latest", start, 3, true, true, false);
    const accounts = Object.values(page.accounts);
    assert.ok(accounts.length <= 3);
    seen.push(...accounts.sort((a, b) => (a.key < b.key ? -1 : 1)));
    if (page.next === undefined) break;
    start = page.next;
  }
  const byHash = Object.values(whole.accounts).sort((a, b) => (a.key < b.key ? -1 : 1));
  assert.deepEqual(
    seen.map(({ key }) => key),
    byHash.map(({ key }) => key),
  );
  assert.ok(seen.every(({ code, storage }) => code === undefined && storage === undefined));
});

test("debug_accountRange and debug_dumpBlock reject a block that is not there", async () => {
  const unknown = { code: -32000, message: "block #99 not found" };
  await assert.rejects(request("debug_dumpBlock", "0x63"), unknown);
  await assert.rejects(request("debug_accountRange", "0x63", "0x", 1, true, true, false), unknown);
});

test("debug_storageRangeAt shows the storage before a transaction, in the order of hashed slots", async () => {
  const slots = (...numbers: readonly number[]) =>
    numbers
      .map((number) => {
        const slot = hashFromBigint(BigInt(number));
        return { slot, hash: hashFromBytes(keccak256OfHex(slot)) };
      })
      .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  // Block 2 holds the call: before it, all three slots are set.
  const before = await request<Range>("debug_storageRangeAt", "0x2", 0, contract, "0x", 10);
  assert.deepEqual(
    Object.entries(before.storage ?? {}).map(([hash, { key }]) => ({ slot: key, hash })),
    slots(1, 2, 3),
  );
  assert.equal(before.nextKey, null);
  const [first, second] = slots(1, 2, 3);
  const page = await request<Range>("debug_storageRangeAt", "0x2", 0, contract, "0x", 1);
  assert.deepEqual(Object.keys(page.storage ?? {}), [first?.hash]);
  assert.equal(page.nextKey, second?.hash);
  const rest = await request<Range>("debug_storageRangeAt", "0x2", 0, contract, page.nextKey, 9);
  assert.equal(Object.keys(rest.storage ?? {}).length, 2);
  // Before block 3 slot 3 is 0 and slot 1 one higher.
  const after = await request<Range>("debug_storageRangeAt", "0x3", 0, contract, "0x", 10);
  const values = Object.values(after.storage ?? {}).map(({ key, value }) => [key, value]);
  assert.deepEqual(
    new Map(values as [Hash, Hash][]),
    new Map([
      [hashFromBigint(1n), hashFromBigint(0xabn)],
      [hashFromBigint(2n), hashFromBigint(0xbbn)],
    ]),
  );
  assert.deepEqual(await request("debug_storageRangeAt", "0x3", 0, RECEIVER, "0x", 10), {
    storage: null,
    nextKey: null,
  });
});

test("debug_storageRangeAt rejects what has no transaction", async () => {
  for (const [block, index] of [
    ["0x0", 0],
    ["0x2", 1],
    ["0x2", -1],
    ["0x63", 0],
  ] as const) {
    await assert.rejects(request("debug_storageRangeAt", block, index, contract, "0x", 1), {
      code: -32000,
    });
  }
});

test("debug_getModifiedAccounts lists what differs between two states", async () => {
  const third = await request<readonly string[]>("debug_getModifiedAccountsByNumber", 3);
  assert.ok(third.includes(SENDER) && third.includes(RECEIVER) && !third.includes(contract));
  const between = await request<readonly string[]>("debug_getModifiedAccountsByNumber", 1, 3);
  assert.deepEqual(new Set([...third, contract]), new Set(between));
  const hashes = between.map((each) => hashFromBytes(keccak256OfHex(parseAddress(each))));
  assert.deepEqual(hashes, [...hashes].sort());
  const { hash } = await request<{ hash: Hash }>("eth_getBlockByNumber", "0x3", false);
  assert.deepEqual(await request("debug_getModifiedAccountsByHash", hash), third);
});

test("debug_stateSize counts the same state before and after newer blocks replaced its nodes", async () => {
  type Sizes = Readonly<Record<string, string>>;
  const before = await request<Sizes>("debug_stateSize");
  const { blockNumber } = before;
  assert.equal(blockNumber, await request("eth_blockNumber"));
  const added = `0x${"5a".repeat(20)}`;
  await send({ to: added, value: "0x1" });
  await request("debug_chaindbCompact");
  await send({ to: contract });
  await request("debug_chaindbCompact");
  assert.deepEqual(await request("debug_stateSize", blockNumber), before);
  const after = await request<Sizes>("debug_stateSize", "pending");
  assert.equal(Number(after["accounts"]), Number(before["accounts"]) + 1);
  assert.equal(after["contractCodes"], before["contractCodes"]);
  await assert.rejects(request("debug_stateSize", "0xffff"), { code: -32000 });
});
