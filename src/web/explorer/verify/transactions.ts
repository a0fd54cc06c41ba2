import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../../base/primitives/hex.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { encodeRlp } from "../../../base/primitives/rlp.ts";
import type { Withdrawal } from "../../../base/types/block.ts";
import { blockSize, withdrawalItem } from "../../../base/types/block-codec.ts";
import { EMPTY_UNCLES_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import { decodeTransaction } from "../../../base/types/transaction/decode.ts";
import { impersonatedSender } from "../../../base/types/transaction/impersonation.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { minedTransactionText } from "../../../rpc/methods/json/transaction-json.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import {
  addressOf,
  bigintOf,
  compare,
  type Json,
  listOf,
  objectOf,
  unverified,
  type Verdict,
  verdictOf,
} from "./verdict.ts";

/** Members of a transaction that pages show. */
const SHOWN: ReadonlySet<string> = new Set([
  "hash",
  "blockHash",
  "blockNumber",
  "transactionIndex",
  "from",
  "to",
  "value",
  "nonce",
  "gas",
  "gasPrice",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "input",
  "type",
]);

/** Whether the header commits to `raws`, the block's transactions in canonical form. */
export function checkTransactionsRoot(header: Pick<Header, "transactionsRoot">, raws: readonly Uint8Array[]): Verdict {
  return verdictOf(() => compare("transactions root", header.transactionsRoot, orderedTrieRoot(raws)));
}

/**
 * Whether every member of `claimed`, the node's transaction, follows from `raw`: decoded, with the sender recovered from the signature, and
 * rendered as JSON by the node's own code.
 * @param index in the block with `header` and `hash`
 */
export function checkTransaction(
  claimed: Json,
  raw: Uint8Array,
  { header, hash, index }: { readonly header: Header; readonly hash: Hash; readonly index: number },
): Verdict {
  return verdictOf(() => {
    const tx = decodeTransaction(raw);
    const impersonated = impersonatedSender(tx);
    const text = minedTransactionText({
      tx,
      sender: impersonated ?? recoverSender(tx),
      position: {
        index,
        blockHash: hash,
        blockNumber: header.number,
        blockTimestamp: header.timestamp,
        baseFeePerGas: header.baseFeePerGas,
      },
    });
    const compared = compare("", claimed, JSON.parse(text) as Json, SHOWN);
    if (compared.kind === "false" || impersonated === undefined) return compared;
    return unverified("sent by impersonation on a dev chain: no signature shows its sender");
  });
}

/** A line of the list of a block's transactions, derived only from canonical bytes. */
export type TransactionRow = {
  readonly hash: Hash;
  /** recovered from the signature */
  readonly from: Address;
  readonly to: Address | null;
  /** wei */
  readonly value: bigint;
  /** its first four bytes, or fewer: the selector of the called function */
  readonly input: Hex;
};

/** @throws InvalidEncodingError, and errors of sender recovery */
export function transactionRow(raw: Uint8Array): TransactionRow {
  const tx = decodeTransaction(raw);
  return {
    hash: keccak256Hash(raw),
    from: impersonatedSender(tx) ?? recoverSender(tx),
    to: tx.to,
    value: tx.value,
    input: bytesToHex(tx.data.subarray(0, 4)),
  };
}

/**
 * Bytes of a block's RLP; undefined if it has uncles, or withdrawals without a commitment in its header: the node did not return the required
 * data.
 * @param raws transactions, to which `header` commits
 * @throws InvalidEncodingError, InvalidHexError
 */
export function provenSize(block: Json, header: Header, raws: readonly Uint8Array[]) {
  if (header.sha3Uncles !== EMPTY_UNCLES_HASH) return undefined;
  const transactions: readonly Transaction[] = raws.map((raw) => decodeTransaction(raw));
  const parts = { header, transactions, uncles: [] };
  if (header.withdrawalsRoot === undefined) return blockSize(parts);
  const withdrawals = listOf(block["withdrawals"] ?? []).map(withdrawalOf);
  const root = orderedTrieRoot(withdrawals.map((each) => encodeRlp(withdrawalItem(each))));
  return root === header.withdrawalsRoot ? blockSize({ ...parts, withdrawals }) : undefined;
}

/** @throws InvalidHexError */
function withdrawalOf(value: unknown): Withdrawal {
  const { index, validatorIndex, address, amount } = objectOf(value);
  return {
    index: bigintOf(index),
    validatorIndex: bigintOf(validatorIndex),
    address: addressOf(address),
    amount: bigintOf(amount),
  };
}

/**
 * Gas that the block's transactions paid for; undefined if it equals the block's `gasUsed`. From Amsterdam on, `gasUsed` is the greater of the
 * two dimensions, execution and state growth (EIP-8037), before refunds.
 * @throws InvalidHexError
 */
export function gasPaidBeside(header: Pick<Header, "gasUsed">, receipts: readonly Json[]): bigint | undefined {
  const paid = receipts.length === 0 ? 0n : bigintOf(receipts.at(-1)!["cumulativeGasUsed"]);
  return paid === header.gasUsed ? undefined : paid;
}

/** Gas of each transaction: the receipts root covers the cumulative gas. @throws InvalidHexError */
export function gasUsedByEach(receipts: readonly Json[]): readonly bigint[] {
  let before = 0n;
  return receipts.map((receipt) => {
    const together = bigintOf(receipt["cumulativeGasUsed"]);
    const own = together - before;
    before = together;
    return own;
  });
}
