import assert from "node:assert/strict";
import { test } from "node:test";
import {
  config,
  headerOf,
  transactionOf,
  withoutLaterFields,
} from "../../../../test/support/evm/execution/factories.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { encodeRlpListOf } from "../../../base/primitives/rlp.ts";
import type { Block } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import { encodeHeader, headerHash } from "../../../base/types/header-codec.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import { validateBody } from "./validate-body.ts";
import { nextDifficulty } from "./validate-header.ts";

const noAncestors = () => undefined;

function blockOf(header: Header, parts: Partial<Block> = {}): Block {
  return {
    hash: headerHash(header),
    header,
    transactions: [],
    uncles: [],
    withdrawals: [],
    ...parts,
  };
}

test("validateBody accepts a body that fits its header", () => {
  const tx = transactionOf();
  const header = headerOf({ number: 1, transactionsRoot: orderedTrieRoot([tx.raw]) });
  validateBody(blockOf(header, { transactions: [tx] }), config, noAncestors);
});

test("validateBody refuses roots, uncles and blobs that do not fit", () => {
  const header = headerOf({ number: 1 });
  const { withdrawals: _1, ...withoutWithdrawals } = blockOf(header);
  const withdrawal = { index: 0n, validatorIndex: 0n, address: header.coinbase, amount: 1n };
  const cases: readonly (readonly [Block, string])[] = [
    [blockOf(header, { transactions: [transactionOf()] }), "BLOCK_INVALID_TRANSACTIONS_ROOT"],
    [blockOf(header, { uncles: [header] }), "BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS"],
    [blockOf({ ...header, sha3Uncles: ZERO_HASH }), "BLOCK_INVALID_UNCLES_HASH"],
    [blockOf(header, { withdrawals: [withdrawal] }), "BLOCK_INVALID_WITHDRAWALS_ROOT"],
    [withoutWithdrawals, "BLOCK_INCORRECT_BLOCK_FORMAT"],
    [blockOf(withoutLaterFields(header)), "BLOCK_INCORRECT_BLOCK_FORMAT"],
    [blockOf({ ...header, blobGasUsed: 131_072n }), "BLOCK_INCORRECT_BLOB_GAS_USED"],
  ];
  for (const [block, code] of cases) {
    assert.throws(() => validateBody(block, config, noAncestors), { code });
  }
});

test("validateBody refuses a block beyond EIP-7934's size, from Osaka on", () => {
  const tx = transactionOf({ data: new Uint8Array(8_388_608) });
  const header = headerOf({ number: 1, transactionsRoot: orderedTrieRoot([tx.raw]) });
  const block = blockOf(header, { transactions: [tx] });
  assert.throws(() => validateBody(block, config, noAncestors), {
    code: "BLOCK_RLP_BLOCK_LIMIT_EXCEEDED",
    message: "block RLP-encoded size exceeds maximum",
  });
  const { osakaTime: _, ...prague } = config;
  validateBody(block, prague, noAncestors);
});

/** A proof-of-work chain of Frontier: genesis and three blocks, and what may be put into a fourth. */
function proofOfWorkChain() {
  const rules = { chainId: 1n, blobSchedule: {} };
  const extend = (parent: Header, elapsed: number, uncles: readonly Header[] = []): Block => {
    const header = {
      ...parent,
      parentHash: headerHash(parent),
      number: parent.number + 1,
      timestamp: parent.timestamp + elapsed,
      sha3Uncles: keccak256Hash(encodeRlpListOf(uncles.map(encodeHeader))),
      difficulty: nextDifficulty(parent.timestamp + elapsed, parent, rules),
    };
    return { hash: headerHash(header), header, transactions: [], uncles };
  };
  const genesis = { ...withoutLaterFields(headerOf()), difficulty: 2n ** 20n };
  const first = extend(genesis, 10);
  const second = extend(first.header, 10);
  const third = extend(second.header, 10);
  const genesisBlock = { hash: headerHash(genesis), header: genesis, transactions: [], uncles: [] };
  const blocks = new Map([genesisBlock, first, second, third].map((block) => [block.hash, block]));
  const validate = (uncles: readonly Header[]) =>
    validateBody(extend(third.header, 10, uncles), rules, (hash) => blocks.get(hash));
  return { first, second, third, extend, validate };
}

test("validateBody accepts a cousin as uncle", () => {
  const { second, first, extend, validate } = proofOfWorkChain();
  validate([extend(second.header, 11).header]);
  validate([extend(second.header, 11).header, extend(first.header, 12).header]);
});

test("validateBody refuses uncles that are too many, known, ancestors, siblings or invalid", () => {
  const { second, third, extend, validate } = proofOfWorkChain();
  const cousin = extend(second.header, 11).header;
  const refused: readonly (readonly [readonly Header[], string, string])[] = [
    [[cousin, cousin, cousin], "BLOCK_INVALID_UNCLES", "too many uncles"],
    [[cousin, cousin], "BLOCK_INVALID_UNCLES", "duplicate uncle"],
    [[third.header], "BLOCK_INVALID_UNCLES", "uncle is ancestor"],
    [[extend(third.header, 12).header], "BLOCK_INVALID_UNCLES", "uncle's parent is not ancestor"],
    [[{ ...cousin, parentHash: ZERO_HASH }], "BLOCK_INVALID_UNCLES", "uncle's parent is not ancestor"],
  ];
  for (const [uncles, code, message] of refused) {
    assert.throws(() => validate(uncles), { code, message });
  }
  assert.throws(() => validate([{ ...cousin, difficulty: 1n }]), {
    code: "BLOCK_INVALID_DIFFICULTY",
  });
});
