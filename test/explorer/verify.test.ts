import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint, hashToBytes, parseHash } from "../../src/base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256OfHex } from "../../src/base/primitives/keccak.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { type BlockAccessList, blockAccessListHash } from "../../src/base/types/block-access-list.ts";
import { headerHash } from "../../src/base/types/header-codec.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { TRANSFER_TOPIC } from "../../src/base/types/transfer-log.ts";
import { accountAccessText } from "../../src/rpc/methods/json/access-list-json.ts";
import { minedTransactionText } from "../../src/rpc/methods/json/transaction-json.ts";
import { InvalidProofError } from "../../src/store/trie/proof.ts";
import type { Log } from "../../src/web/explorer/ui/rpc.ts";
import { transfersIn } from "../../src/web/explorer/ui/tokens/tokens.ts";
import { accessListOf, checkAccessList } from "../../src/web/explorer/verify/access-list.ts";
import { proofSteps, provenAccount, provenSlot } from "../../src/web/explorer/verify/account.ts";
import {
  type ChainReads,
  checkChain,
  checkHeader,
  headerOf,
  type TrustedBlock,
} from "../../src/web/explorer/verify/header.ts";
import { checkReceipt, checkReceiptsRoot } from "../../src/web/explorer/verify/receipts.ts";
import {
  checkTransaction,
  checkTransactionsRoot,
  gasPaidBeside,
  gasUsedByEach,
  provenSize,
  transactionRow,
} from "../../src/web/explorer/verify/transactions.ts";
import { compare, type Json, type Verdict, worstOf } from "../../src/web/explorer/verify/verdict.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const OWNER = parseAddress(DEV_ADDRESSES[0]!);
let chain: SampleChain;
before(async () => {
  chain = await startSampleChain();
});
after(() => chain.node.stop());

/** `json` with one hex digit of each string in it changed, one at a time, and with the path of the change. */
function* lies(json: unknown, path = ""): Generator<{ path: string; lie: unknown }> {
  if (typeof json === "string" && json.startsWith("0x") && json.length > 2) {
    const at = json.length - 1;
    const digit = json[at] === "1" ? "2" : "1";
    yield { path, lie: json.slice(0, at) + digit };
    return;
  }
  if (typeof json !== "object" || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    for (const { path: below, lie } of lies(value, `${path}/${name}`)) {
      const copy = Array.isArray(json) ? [...json] : { ...json };
      (copy as Record<string, unknown>)[name] = lie;
      yield { path: below, lie: copy };
    }
  }
}

const assertVerified = (verdict: Verdict) => assert.deepEqual(verdict, { kind: "verified" });

/** `check` is verified of `honest`, and false of every lie about it. */
function assertCatchesEveryLie(honest: unknown, check: (claimed: Json) => Verdict): number {
  assertVerified(check(honest as Json));
  let count = 0;
  for (const { path, lie } of lies(honest)) {
    assert.equal(check(lie as Json).kind, "false", path);
    count++;
  }
  return count;
}

test("a block access list is verified by the hash in the header, and every lie about it is found", () => {
  const word = (value: bigint) => hashFromBigint(value);
  const list: BlockAccessList = [
    {
      address: OWNER,
      storageChanges: [{ slot: word(0n), changes: [{ index: 1, value: 7n }] }],
      storageReads: [word(2n), word(300n)],
      balanceChanges: [
        { index: 1, value: 10n ** 18n },
        { index: 3, value: 0n },
      ],
      nonceChanges: [{ index: 2, value: 5n }],
      codeChanges: [{ index: 2, code: hexToBytes("0x6001") }],
    },
  ];
  const header = { blockAccessListHash: blockAccessListHash(list) };
  const honest = JSON.parse(`[${list.map(accountAccessText).join(",")}]`);
  assert.deepEqual(accessListOf(honest), list);
  const check = (claimed: unknown) => checkAccessList(header, accessListOf(claimed));
  assert.equal(assertCatchesEveryLie(honest, check), 14);
  assert.equal(check([]).kind, "false");
});

test("gas that transactions paid for is shown where the header counts other gas (EIP-8037)", () => {
  const receipts = [{ cumulativeGasUsed: "0x5208" }, { cumulativeGasUsed: "0x31f38" }];
  assert.equal(gasPaidBeside({ gasUsed: 0x31f38n }, receipts), undefined);
  assert.equal(gasPaidBeside({ gasUsed: 183_600n }, receipts), 204_600n);
  assert.equal(gasPaidBeside({ gasUsed: 0n }, []), undefined);
});

test("the protocol's logs of ether transfers are not those of a token (EIP-7708)", () => {
  const topics = [TRANSFER_TOPIC, `0x${"00".repeat(31)}01`, `0x${"00".repeat(31)}02`];
  const log = (address: string) =>
    ({ address, topics, data: `0x${"00".repeat(31)}07`, blockNumber: "0x1", logIndex: "0x0" }) as unknown as Log;
  const ether = `0x${"ff".repeat(19)}fe`;
  assert.deepEqual(
    transfersIn([log(ether), log(OWNER), log(`0x${"FF".repeat(19)}fE`)]).map(({ token }) => token),
    [OWNER],
  );
});

test("comparison ignores the order of members, their letter case, members without a value, and those that only the proof has", () => {
  const proven = { from: "0xab", logs: [{ data: "0x1", topics: ["0x2"] }] };
  const claimed = {
    logs: [{ topics: ["0x2"], data: "0x1", extra: null }],
    from: "0xAB",
    more: null,
  };
  assertVerified(compare("", claimed, proven));
  const lie = { logs: [{ topics: ["0x2"], data: "0x3" }], from: "0xab" };
  assert.deepEqual(compare("", lie, proven), {
    kind: "false",
    reason: 'logs[0].data: the node says "0x3", its proof "0x1"',
  });
  for (const logs of [[], null, undefined, [{ data: "0x1", topics: [] }], "0x"]) {
    assert.equal(compare("", { logs }, proven).kind, "false", JSON.stringify(logs));
  }
});

test("a member that only the node has is not verified, unless it is one that no page shows", () => {
  const proven = { from: "0xab", logs: [{ data: "0x1" }] };
  for (const claimed of [
    { ...proven, maxFeePerGas: "0x1" },
    { ...proven, logs: [{ data: "0x1", maxFeePerGas: "0x1" }] },
    { ...proven, toString: "0x1" },
  ]) {
    assert.equal(compare("", claimed, proven).kind, "unverified");
    assert.equal(compare("", claimed, proven, new Set(["maxFeePerGas", "toString"])).kind, "unverified");
    assertVerified(compare("", claimed, proven, new Set(["from"])));
  }
  const lie = { from: "0xac", extra: 1, logs: proven.logs };
  assert.equal(compare("", lie, proven).kind, "false");
  const { reason } = compare("x", "a".repeat(1e6), "b") as { reason: string };
  assert.ok(reason.length < 1000);
});

/** Members of a block that no header commits to. */
const NOT_IN_HEADER = ["size", "totalDifficulty", "transactions", "uncles", "withdrawals"];

test("a header is verified by its hash, and false with any digit of any field changed", async () => {
  const block = await chain.call("eth_getBlockByNumber", "0x2", false);
  const header = Object.fromEntries(Object.entries(block).filter(([name]) => !NOT_IN_HEADER.includes(name)));
  assert.ok(assertCatchesEveryLie(header, (claimed) => checkHeader(claimed)) >= 20);
});

async function blockWith(transaction: string) {
  const claimed = await chain.call("eth_getTransactionByHash", transaction);
  const block = await chain.call("eth_getBlockByHash", claimed["blockHash"], false);
  const receipts = await chain.call<Json[]>("eth_getBlockReceipts", claimed["blockHash"]);
  const index = Number(claimed["transactionIndex"]);
  const raw = await chain.call<string>(
    "eth_getRawTransactionByBlockHashAndIndex",
    claimed["blockHash"],
    claimed["transactionIndex"],
  );
  const position = { header: headerOf(block), hash: block["hash"] as Hash, index };
  return { claimed, receipts, raw: hexToBytes(raw), position };
}

for (const name of ["deployment", "transfer", "payment", "reverted"] as const) {
  test(`a transaction is verified against the transactions root (${name}), and false with any digit changed`, async () => {
    const { claimed, raw, position } = await blockWith(chain[name]);
    assertVerified(checkTransactionsRoot(position.header, [raw]));
    const other = Uint8Array.from(raw);
    other[other.length - 1]! ^= 1;
    assert.equal(checkTransactionsRoot(position.header, [other]).kind, "false");
    const count = assertCatchesEveryLie(claimed, (lie) => checkTransaction(lie, raw, position));
    assert.ok(count >= 15);
  });

  test(`a receipt is verified against the receipts root (${name}), and false with any digit changed`, async () => {
    const { claimed, receipts, position } = await blockWith(chain[name]);
    const honest = receipts[position.index]!;
    const check = (lie: Json) => {
      const all = receipts.with(position.index, lie);
      return worstOf([
        checkReceiptsRoot(position.header, all),
        checkReceipt(all, position.index, claimed, position.header),
      ]);
    };
    assert.ok(assertCatchesEveryLie(honest, check) >= 12);
  });
}

test("a legacy transaction with a fee that its kind does not have is not verified, as pages show that fee", async () => {
  const { position } = await blockWith(chain.payment);
  const account = privateKeyToAccount(DEV_KEYS[0]!);
  const raw = hexToBytes(
    (await account.signTransaction({
      type: "legacy",
      to: OWNER,
      gas: 21000n,
      gasPrice: 7n,
    })) as Hex,
  );
  const text = minedTransactionText({
    tx: decodeTransaction(raw),
    sender: OWNER,
    position: {
      index: position.index,
      blockHash: position.hash,
      blockNumber: position.header.number,
      blockTimestamp: position.header.timestamp,
      baseFeePerGas: position.header.baseFeePerGas,
    },
  });
  const claimed = JSON.parse(text) as Json;
  assertVerified(checkTransaction(claimed, raw, position));
  const check = (added: Json) => checkTransaction({ ...claimed, ...added }, raw, position).kind;
  assert.equal(check({ maxFeePerGas: "0x1bc16d674ec80000" }), "unverified");
  assert.equal(check({ maxPriorityFeePerGas: "0x1" }), "unverified");
  // Other clients add members that no page shows.
  assert.equal(check({ publicKey: "0x1", maxFeePerGas: null }), "verified");
});

test("a block is false under another number or hash than it was asked by", async () => {
  const block = await chain.call("eth_getBlockByNumber", "0x2", false);
  const hash = block["hash"] as Hash;
  assertVerified(checkHeader(block, { hash }));
  assertVerified(checkHeader(block, { number: 2 }));
  assert.equal(checkHeader(block, { number: 3 }).kind, "false");
  const other = parseHash(`0x${"12".repeat(32)}`);
  assert.equal(checkHeader(block, { hash: other }).kind, "false");
  // The hash that is shown, not only the one that was asked by.
  assert.equal(checkHeader({ ...block, hash: other }, { hash }).kind, "false");
});

test("rows, gas and size of a block follow from its raw transactions, receipts and header alone", async () => {
  for (const name of ["deployment", "transfer", "payment", "reverted"] as const) {
    const { claimed, receipts, raw, position } = await blockWith(chain[name]);
    const block = await chain.call("eth_getBlockByHash", position.hash, true);
    const { hash, from, to, value } = transactionRow(raw);
    assert.deepEqual(
      [hash, from, to, toQuantity(value)],
      [claimed["hash"], claimed["from"], claimed["to"], claimed["value"]],
    );
    assert.deepEqual(
      gasUsedByEach(receipts).map(toQuantity),
      receipts.map(({ gasUsed }) => gasUsed),
    );
    assert.equal(toQuantity(provenSize(block, position.header, [raw])!), block["size"]);
    const withdrawals = [{ index: "0x0", validatorIndex: "0x0", address: OWNER, amount: "0x1" }];
    const forged = { ...block, size: "0x1", withdrawals };
    assert.equal(provenSize(forged, position.header, [raw]), undefined);
  }
});

async function headWithProof(address: string, slots: readonly string[] = []) {
  const block = await chain.call("eth_getBlockByNumber", "latest", false);
  const answer = await chain.call("eth_getProof", address, slots, block["number"]);
  return { header: headerOf(block), answer };
}

test("an account is verified by its proof, and false with any digit of it changed", async () => {
  const { header, answer } = await headWithProof(OWNER);
  const { address, balance, nonce, codeHash, accountProof } = answer;
  const check = (claimed: Json): Verdict => {
    try {
      const account = provenAccount(header.stateRoot, claimed["address"] as Address, claimed);
      return worstOf([
        compare("balance", claimed["balance"], toQuantity(account.balance)),
        compare("nonce", claimed["nonce"], toQuantity(account.nonce)),
        compare("codeHash", claimed["codeHash"], account.codeHash),
      ]);
    } catch (error) {
      assert.ok(error instanceof InvalidProofError);
      return { kind: "false", reason: error.message };
    }
  };
  assertCatchesEveryLie({ address, balance, nonce, codeHash, accountProof }, check);
});

test("an account that does not exist is proven to be empty", async () => {
  const nobody = parseAddress("0x00000000000000000000000000000000000000aa");
  const { header, answer } = await headWithProof(nobody);
  const { balance, nonce } = provenAccount(header.stateRoot, nobody, answer);
  assert.deepEqual([balance, nonce], [0n, 0n]);
});

test("a storage slot is verified by its proof, an empty one too, and false under another value or node", async () => {
  const slots = [0, 1, 2, 3, 4, 5].map((slot) => parseHash(`0x${slot.toString(16).padStart(64, "0")}`));
  const { header, answer } = await headWithProof(chain.token, slots);
  const { storageRoot } = provenAccount(header.stateRoot, chain.token as Address, answer);
  const values = slots.map((slot, i) => {
    const proof = (answer["storageProof"] as Json[])[i]!;
    const proven = provenSlot(storageRoot, slot, proof);
    assert.equal(BigInt(proven), BigInt(proof["value"] as string));
    for (const { path, lie } of lies(proof["proof"])) {
      assert.throws(() => provenSlot(storageRoot, slot, { proof: lie }), InvalidProofError, path);
    }
    return BigInt(proven);
  });
  assert.ok(values.includes(0n));
  assert.ok(values.some((value) => value > 0n));
});

test("the steps of a proof lead from the root to the leaf, each by the hash of the one before", async () => {
  const { header, answer } = await headWithProof(OWNER);
  const nodes = (answer["accountProof"] as string[]).map(hexToBytes);
  const key = keccak256OfHex(OWNER);
  const steps = proofSteps(hashToBytes(header.stateRoot), key, nodes);
  assert.equal(steps.length, nodes.length);
  assert.equal(steps[0]!.expected, header.stateRoot);
  assert.equal(steps.at(-1)!.kind, "leaf");
  let path = "";
  for (const step of steps) {
    assert.equal(step.hash, step.expected);
    assert.equal(step.before, path);
    path += step.consumed;
  }
  assert.equal(`0x${path}`, `0x${Buffer.from(key).toString("hex")}`);
});

function chainReads(change = (block: Json) => block): ChainReads {
  return {
    blockByHash: async (hash) => change(await chain.call("eth_getBlockByHash", hash, false)),
    proof: (account, slots, blockHash) => chain.call("eth_getProof", account, slots, { blockHash }),
  };
}

async function blockAt(number: number): Promise<Json & TrustedBlock> {
  const block = await chain.call("eth_getBlockByNumber", toQuantity(number), false);
  return { ...block, number, hash: block["hash"] as Hash };
}

const jsonAt = (number: number) => chain.call("eth_getBlockByNumber", toQuantity(number), false);

test("a block is linked to the trusted one, near and far, older and younger, and to itself", async () => {
  for (const [number, trusted] of [
    ...([
      [3, 3],
      [3, 4],
      [4, 3],
      [2, 15],
      [15, 2],
      [2, 40],
      [40, 2],
    ] as const),
  ]) {
    const { hash } = await blockAt(trusted);
    const verdict = await checkChain(await jsonAt(number), { number: trusted, hash }, chainReads());
    assert.deepEqual(verdict, { kind: "verified" }, `${number} from ${trusted}`);
  }
});

test("a block of another chain is not linked to the trusted one", async () => {
  const hash = parseHash(`0x${"12".repeat(32)}`);
  for (const [number, trusted] of [
    [3, 3],
    [40, 39],
    [40, 30],
    [40, 2],
  ] as const) {
    const verdict = await checkChain(await jsonAt(number), { number: trusted, hash }, chainReads());
    assert.equal(verdict.kind, "false", `${number} from ${trusted}`);
  }
});

test("a header that is changed on the way to the trusted block is found", async () => {
  const { hash } = await blockAt(2);
  const liar = chainReads((block) => ({ ...block, gasUsed: "0x1" }));
  const verdict = await checkChain(await jsonAt(12), { number: 2, hash }, liar);
  assert.equal(verdict.kind, "false");
});

test("a node that makes up headers without end is asked a bounded number of times", async () => {
  const template = await jsonAt(2);
  const headers = new Map<string, Json>();
  // Each is a parent of the one before it and has the same number, so following them comes no nearer.
  let last: Json = { ...template, number: "0x64" };
  const made: Json[] = [];
  for (let i = 0; i < 200; i++) {
    const block = { ...last, extraData: `0x${i.toString(16).padStart(4, "0")}` };
    const hash = headerHash(headerOf(block));
    made.push({ ...block, hash });
    headers.set(hash, { ...block, hash });
    last = { ...block, parentHash: hash };
  }
  let asked = 0;
  const feeding: ChainReads = {
    ...chainReads(),
    blockByHash: async (hash) => {
      asked++;
      return headers.get(hash) ?? null;
    },
  };
  const trusted = { number: 90, hash: parseHash(`0x${"12".repeat(32)}`) };
  const verdict = await checkChain(made.at(-1)!, trusted, feeding);
  assert.equal(verdict.kind, "false");
  assert.ok(asked <= 16, `${asked} blocks`);
});

test("a block that is further away than any chain is long is not followed", async () => {
  const block = { ...(await jsonAt(2)), number: toQuantity(2 ** 52) };
  const claimed = { ...block, hash: headerHash(headerOf(block)) };
  const none = () => Promise.reject(new assert.AssertionError({ message: "asked" }));
  const { hash } = await blockAt(2);
  const verdict = await checkChain(claimed, { number: 2, hash }, { blockByHash: none, proof: none });
  assert.equal(verdict.kind, "unverified");
});

test("a node that does not give what the link needs leaves the block unverified", async () => {
  const { hash } = await blockAt(2);
  const silent: ChainReads = {
    ...chainReads(),
    proof: () => Promise.reject(new Error("the method eth_getProof is not available")),
  };
  const verdict = await checkChain(await jsonAt(40), { number: 2, hash }, silent);
  assert.equal(verdict.kind, "unverified");
});
