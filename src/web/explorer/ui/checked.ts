import type { Address } from "../../../base/primitives/address.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256Hash, keccak256OfHex } from "../../../base/primitives/keccak.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { Header } from "../../../base/types/header.ts";
import type { TrieAccount } from "../../../evm/state/trie-account.ts";
import { nodesOf, type ProofStep, proofSteps, provenAccount, provenSlot, warmUp } from "../verify/account.ts";
import { type Asked, checkChain, checkHeader, headerOf } from "../verify/header.ts";
import { checkReceipt, checkReceiptsRoot } from "../verify/receipts.ts";
import {
  checkTransaction,
  checkTransactionsRoot,
  gasPaidBeside,
  gasUsedByEach,
  provenSize,
  type TransactionRow,
  transactionRow,
} from "../verify/transactions.ts";
import { compare, type Json, unverified, VERIFIED, type Verdict, verdictOf, worstOf } from "../verify/verdict.ts";
import { type Block, call, type Receipt, type Transaction } from "./rpc.ts";
import { CHAIN_READS, TRUST } from "./trust.ts";

/** A block, and whether its header has the claimed hash and is in the trusted chain. */
type CheckedBlock = { readonly block: Block; readonly verdict: Verdict };

/** @param asked the hash or number in the request for `block` */
export async function checkBlock(block: Block, asked?: Asked): Promise<CheckedBlock> {
  const header = checkHeader(block, asked);
  if (header.kind !== "verified") return { block, verdict: header };
  const anchor = await TRUST.anchorFor({ number: Number(block.number), hash: block.hash });
  if (anchor.kind === "refused") return { block, verdict: anchor.verdict };
  return { block, verdict: await checkChain(block, anchor.trust, CHAIN_READS) };
}

/** Transactions of a block in their canonical form, to which its root commits. */
async function rawTransactions(block: Block): Promise<readonly Uint8Array[]> {
  const raws = await Promise.all(
    block.transactions.map((_, index) =>
      call<Hex>("eth_getRawTransactionByBlockHashAndIndex", block.hash, toQuantity(index)),
    ),
  );
  return raws.map(hexToBytes);
}

/** The outcome of checking the body of a block. */
export type CheckedBody = {
  readonly receipts: readonly Receipt[];
  readonly transactions: Verdict;
  readonly receiptsVerdict: Verdict;
  readonly raws: readonly Uint8Array[];
  readonly header: Header;
};

/** The body shown on a block's page, decoded from data that the header's roots commit to. */
export type ShownBody = {
  readonly rows: readonly TransactionRow[];
  /** per transaction */
  readonly gasUsed: readonly bigint[];
  /** of all transactions, if it differs from the header's gas used */
  readonly gasPaid: bigint | undefined;
  /** bytes; undefined if the node did not return the required data */
  readonly size: number | undefined;
};

/** Senders to recover between two turns of the page: about 30 ms of work. */
const ROWS_A_TURN = 32;

/** @throws NodeError if the body cannot be decoded; its verdict is false then */
export async function shownBody(block: Block, body: CheckedBody): Promise<ShownBody> {
  const rows: TransactionRow[] = [];
  for (const raw of body.raws) {
    rows.push(transactionRow(raw));
    if (rows.length % ROWS_A_TURN === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return {
    rows,
    gasUsed: gasUsedByEach(body.receipts),
    gasPaid: gasPaidBeside(body.header, body.receipts),
    size: provenSize(block, body.header, body.raws),
  };
}

/** Checks the transactions and receipts of a block whose header has `verdict`. */
export async function checkBody({ block, verdict }: CheckedBlock): Promise<CheckedBody> {
  const [raws, receipts] = await Promise.all([
    rawTransactions(block),
    call<Receipt[]>("eth_getBlockReceipts", block.hash),
  ]);
  const header = headerOf(block);
  const hashes = block.transactions.map((tx) => (typeof tx === "string" ? tx : tx.hash));
  return {
    receipts,
    raws,
    header,
    transactions: worstOf([
      checkTransactionsRoot(header, raws),
      compare("hashes of the transactions", hashes, raws.map(keccak256Hash)),
      verdict,
    ]),
    receiptsVerdict: worstOf([checkReceiptsRoot(header, receipts), verdict]),
  };
}

export type CheckedTransaction = {
  readonly tx: Transaction;
  readonly block: Block;
  readonly receipt: Receipt;
  readonly blockVerdict: Verdict;
  readonly txVerdict: Verdict;
  readonly receiptVerdict: Verdict;
};

/** @param tx of the chain, requested by the hash `asked` */
export async function checkMined(tx: Transaction, asked: Hash): Promise<CheckedTransaction> {
  const block = await call<Block>("eth_getBlockByHash", tx.blockHash, false);
  const checked = await checkBlock(block, tx.blockHash === null ? undefined : { hash: tx.blockHash });
  const body = await checkBody(checked);
  const index = Number(tx.transactionIndex);
  const raw = body.raws[index];
  const receipt = body.receipts[index];
  if (raw === undefined || receipt === undefined) throw new Error("the block has no such index");
  const position = { header: body.header, hash: block.hash, index };
  const own = worstOf([compare("hash", asked, keccak256Hash(raw)), checkTransaction(tx, raw, position)]);
  return {
    tx,
    block,
    receipt,
    blockVerdict: checked.verdict,
    txVerdict: worstOf([own, body.transactions]),
    receiptVerdict: worstOf([body.receiptsVerdict, checkReceipt(body.receipts, index, tx, body.header)]),
  };
}

/** A value that the node returned, and whether its proof shows the same. */
type Fact<T> = { readonly value: T; readonly verdict: Verdict };

export type CheckedAccount = {
  readonly balance: Fact<Hex>;
  readonly nonce: Fact<Hex>;
  readonly code: Fact<Hex>;
  readonly codeHash: Hash;
  readonly storageRoot: Hash | undefined;
  readonly steps: readonly ProofStep[];
  /** milliseconds spent checking the proof */
  readonly elapsedMs: number;
  readonly checked: CheckedBlock;
};

/** The account at `address` in the state after a block. */
export async function checkAccount(address: Address, checked: CheckedBlock): Promise<CheckedAccount> {
  const at = { blockHash: checked.block.hash };
  const answers = Promise.all([
    call<Hex>("eth_getBalance", address, at),
    call<Hex>("eth_getTransactionCount", address, at),
    call<Hex>("eth_getCode", address, at),
    call<Json>("eth_getProof", address, [], at).catch((error: Error) => error),
  ]);
  // The request is sent at the end of this turn.
  setTimeout(warmUp);
  const [balance, nonce, code, proof] = await answers;
  const codeHash = keccak256Hash(hexToBytes(code));
  const base = { codeHash, checked };
  if (proof instanceof Error) {
    const verdict = unverified(`no proof: ${proof.message}`);
    const fact = (value: Hex): Fact<Hex> => ({ value, verdict });
    return {
      ...base,
      balance: fact(balance),
      nonce: fact(nonce),
      code: fact(code),
      storageRoot: undefined,
      steps: [],
      elapsedMs: 0,
    };
  }
  const started = performance.now();
  const { stateRoot } = checked.block;
  let account: TrieAccount | undefined;
  const proven = verdictOf(() => {
    account = provenAccount(stateRoot, address, proof);
    return VERIFIED;
  });
  const elapsedMs = performance.now() - started;
  const fact = (value: Hex, name: string, claimed: string, shown?: string): Fact<Hex> => ({
    value,
    verdict: worstOf([proven, compare(name, claimed, shown), checked.verdict]),
  });
  return {
    ...base,
    elapsedMs,
    balance: fact(balance, "balance", balance, account && toQuantity(account.balance)),
    nonce: fact(nonce, "nonce", nonce, account && toQuantity(account.nonce)),
    code: fact(code, "code hash", codeHash, account?.codeHash),
    storageRoot: account && hashFromBytes(account.storageRoot),
    steps: stepsOf(hashToBytes(stateRoot), keccak256OfHex(address), proof["accountProof"]),
  };
}

/** A storage slot of the account in `account`, from `eth_getStorageAt` and its proof. */
export async function checkSlot(
  address: Address,
  slot: Hash,
  { checked, storageRoot }: CheckedAccount,
): Promise<Fact<Hex> & { readonly steps: readonly ProofStep[] }> {
  const at = { blockHash: checked.block.hash };
  const [value, proof] = await Promise.all([
    call<Hex>("eth_getStorageAt", address, slot, at),
    call<Json>("eth_getProof", address, [slot], at),
  ]);
  const root = hashToBytes(storageRoot!);
  const [storage = {}] = proof["storageProof"] as readonly Json[];
  return {
    value,
    verdict: worstOf([verdictOf(() => compare("value", value, provenSlot(root, slot, storage))), checked.verdict]),
    steps: stepsOf(root, keccak256OfHex(slot), storage["proof"]),
  };
}

/** Steps of a proof, as far as it is valid. */
function stepsOf(root: Uint8Array, key: Uint8Array, proof: unknown): readonly ProofStep[] {
  try {
    return proofSteps(root, key, nodesOf(proof));
  } catch {
    return [];
  }
}
