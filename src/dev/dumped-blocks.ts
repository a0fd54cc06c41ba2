import { blobParamsAt } from "../base/params/blob-schedule.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import { blobBaseFee } from "../base/params/fees.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { bytesToHex } from "../base/primitives/hex.ts";
import { keccak256Hash } from "../base/primitives/keccak.ts";
import { toQuantity } from "../base/primitives/quantity.ts";
import type { ExecutedBlock, Withdrawal } from "../base/types/block.ts";
import { logsBloom } from "../base/types/bloom.ts";
import type { Header } from "../base/types/header.ts";
import { headerHash } from "../base/types/header-codec.ts";
import { headerFromJson } from "../base/types/header-json.ts";
import type { Log, Receipt } from "../base/types/receipt.ts";
import type { TransactionFields } from "../base/types/transaction/codec.ts";
import { buildTransaction } from "../base/types/transaction/encode.ts";
import { blobGasOf, effectiveGasPrice } from "../base/types/transaction/fees.ts";
import { impersonatedSender, includedHash, isUnsigned } from "../base/types/transaction/impersonation.ts";
import { recoverSender } from "../base/types/transaction/sender.ts";
import type { AccessListEntry, Authorization, Transaction } from "../base/types/transaction/transaction.ts";
import { createAddress } from "../evm/machine/contract-creation.ts";
import {
  address,
  bit,
  byte,
  bytes,
  DumpValue,
  hash,
  list,
  number,
  record,
  slotWord,
  uint64,
  word,
} from "./dump-json.ts";

const TOPICS_MAX = 4;
const ENTRIES_PER_STEP = 64;

/** A header with its block in the file. */
type Listed = { readonly header: Header; readonly hash: Hash; readonly block: DumpValue };

/**
 * The blocks of a dump that lead to block `best`, ascending, each the parent of the next one; none where the dump lists none. Receipts lack the price of blob gas,
 * which the rules of the chain give (`withBlobPrices`).
 * @throws DevControlError
 */
export function* blocksInSteps(dump: DumpValue, best: number): Generator<undefined, ExecutedBlock[]> {
  const listed = new Map<Hash, Listed>();
  let last: Listed | undefined;
  for (const block of dump.at("blocks").or([]).items()) {
    const header = headerOf(block.at("header"));
    const entry = { header, hash: headerHash(header), block };
    listed.set(entry.hash, entry);
    if (header.number === best) last = entry;
    yield;
  }
  if (listed.size === 0) return [];
  if (last === undefined) return dump.at("best_block_number").malformed("the number of one of its blocks");
  const included = yield* includedTransactions(dump.at("transactions"));
  const blocks: ExecutedBlock[] = [];
  for (let next: Listed | undefined = last; next !== undefined; ) {
    blocks.push(yield* executedBlock(next, included));
    const { header } = next;
    const parent = listed.get(header.parentHash);
    if (parent !== undefined && parent.header.number !== header.number - 1) {
      parent.block.at("header").at("number").malformed("one less than that of the block after it");
    }
    next = parent;
    yield;
  }
  return blocks.reverse();
}

function headerOf(from: DumpValue): Header {
  const at = (value: unknown, name: string) => new DumpValue(value, name, from);
  return headerFromJson(from.members(), {
    hash: (value, name) => hash(at(value, name)),
    address: (value, name) => address(at(value, name)),
    bytes: (value, lengthMax, name) => bytes(at(value, name), lengthMax),
    word: (value, name) => word(at(value, name)),
    gas: (value, name) => uint64(at(value, name)),
    number: (value, name) => number(at(value, name)),
  });
}

/** Entries of `transactions` by the block's hash and the index in it. */
function* includedTransactions(transactions: DumpValue): Generator<undefined, ReadonlyMap<string, DumpValue>> {
  const found = new Map<string, DumpValue>();
  for (const [index, entry] of transactions.or([]).items().entries()) {
    const at = number(entry.at("info").at("transaction_index"));
    found.set(`${hash(entry.at("block_hash"))}/${at}`, entry);
    if (index % ENTRIES_PER_STEP === 0) yield;
  }
  return found;
}

function* executedBlock(
  { header, hash: blockHash, block }: Listed,
  included: ReadonlyMap<string, DumpValue>,
): Generator<undefined, ExecutedBlock> {
  const transactions: Transaction[] = [];
  const senders: Address[] = [];
  const receipts: Receipt[] = [];
  for (const [index, item] of block.at("transactions").items().entries()) {
    const { tx, sender } = transactionOf(item);
    const entry = included.get(`${blockHash}/${index}`) ?? item.malformed("one of those that transactions lists");
    const listedHash = entry.at("info").at("transaction_hash");
    if (hash(listedHash) !== tx.hash) listedHash.malformed(`the hash of ${item.place}`);
    transactions.push(tx);
    senders.push(sender);
    receipts.push(receiptOf(entry.at("receipt"), { tx, sender, before: receipts.at(-1), header }));
    // Its signer was recovered.
    yield;
  }
  return {
    block: {
      hash: blockHash,
      header,
      transactions,
      uncles: list(headerOf)(block.at("ommers").or([])),
      // anvil writes null for a list that is empty.
      ...(header.withdrawalsRoot !== undefined && { withdrawals: withdrawals(block.at("withdrawals").or([])) }),
    },
    senders,
    receipts,
  };
}

const withdrawals = list(record<Withdrawal>({ index: uint64, validatorIndex: uint64, address, amount: uint64 }));

function transactionOf(from: DumpValue): { readonly tx: Transaction; readonly sender: Address } {
  const members = from.at("transaction");
  // A typed transaction has the parity as v, too.
  const v = members.at(members.at("v").isNull ? "yParity" : "v");
  const signature = { v: word(v), r: word(members.at("r")), s: word(members.at("s")) };
  const signed = buildTransaction(fieldsOf(members), signature);
  if (hash(members.at("hash")) !== signed.hash) members.at("hash").malformed("the hash of its members");
  const given = from.at("impersonated_sender");
  const sender = given.isNull ? senderOf(signed, members) : address(given);
  const isKeyless = isUnsigned(signed) || impersonatedSender(signed) === sender;
  if (!given.isNull && !isKeyless) members.malformed("one without a signature, as impersonated_sender says");
  return { tx: { ...signed, hash: includedHash(signed.raw, sender) }, sender };
}

function senderOf(tx: Transaction, from: DumpValue): Address {
  try {
    return recoverSender(tx);
  } catch {
    return from.malformed("a signed transaction");
  }
}

const typedFields = record({
  chainId: word,
  accessList: (from) => list(record<AccessListEntry>({ address, storageKeys: list(slotWord) }))(from.or([])),
});
const feeFields = record({ maxPriorityFeePerGas: word, maxFeePerGas: word });
const blobFields = record({ maxFeePerBlobGas: word, blobVersionedHashes: list(hash) });
const authorizations = list(
  record<Authorization>({ chainId: word, address, nonce: uint64, yParity: byte, r: word, s: word }),
);

function fieldsOf(from: DumpValue): TransactionFields {
  const type = byte(from.at("type").or(0));
  const to = from.at("to");
  const base = {
    nonce: uint64(from.at("nonce")),
    gasLimit: uint64(from.at("gas")),
    to: to.isNull ? null : address(to),
    value: word(from.at("value")),
    data: bytes(from.at("input")),
  };
  if (type === 0n) {
    const chainId = from.at("chainId");
    const gasPrice = word(from.at("gasPrice"));
    return { ...base, type: 0, chainId: chainId.isNull ? undefined : word(chainId), gasPrice };
  }
  const typed = { ...base, ...typedFields(from) };
  if (type === 1n) return { ...typed, type: 1, gasPrice: word(from.at("gasPrice")) };
  const fees = { ...typed, ...feeFields(from) };
  if (type === 2n) return { ...fees, type: 2 };
  if (type === 3n) return { ...fees, type: 3, ...blobFields(from) };
  if (type !== 4n) return from.at("type").malformed("one of Ethereum's, 0x0 to 0x4");
  return { ...fees, type: 4, authorizationList: authorizations(from.at("authorizationList")) };
}

function receiptOf(
  from: DumpValue,
  included: {
    readonly tx: Transaction;
    readonly sender: Address;
    /** Receipt of the transaction before it in the block. */
    readonly before: Receipt | undefined;
    readonly header: Header;
  },
): Receipt {
  const { tx, sender, before, header } = included;
  const gasBefore = before?.cumulativeGasUsed ?? 0n;
  const status = bit(from.at("status"));
  const cumulativeGasUsed = uint64(from.at("cumulativeGasUsed"));
  if (cumulativeGasUsed < gasBefore) {
    from.at("cumulativeGasUsed").malformed("at least that of the transaction before");
  }
  const logs = list(logOf)(from.at("logs"));
  return {
    type: tx.type,
    status: status === 0n ? 0 : 1,
    cumulativeGasUsed,
    gasUsed: cumulativeGasUsed - gasBefore,
    logsBloom: logsBloom(logs),
    logs,
    contractAddress: tx.to === null ? createAddress(sender, tx.nonce) : null,
    effectiveGasPrice: effectiveGasPrice(tx, header.baseFeePerGas ?? 0n),
    ...(tx.type === 3 && { blobGasUsed: blobGasOf(tx) }),
  };
}

const logMembers = record<Log>({ address, topics: list(hash), data: bytes });

function logOf(from: DumpValue): Log {
  const topics = from.at("topics");
  if (topics.items().length > TOPICS_MAX) topics.malformed(`a list of at most ${TOPICS_MAX}`);
  return logMembers(from);
}

/** The block with the prices that its transactions paid for blob gas by the rules of `config`. */
export function withBlobPrices(executed: ExecutedBlock, config: ChainConfig): ExecutedBlock {
  const { header } = executed.block;
  const params = blobParamsAt(config, header.timestamp);
  if (params === undefined || executed.receipts.every(({ type }) => type !== 3)) return executed;
  const blobGasPrice = blobBaseFee(header.excessBlobGas ?? 0n, params);
  return {
    ...executed,
    receipts: executed.receipts.map((receipt) => (receipt.type === 3 ? { ...receipt, blobGasPrice } : receipt)),
  };
}

/** JSON of `block` as anvil begins its file with it: the environment of the newest block. */
export function environmentText({ block: { header } }: ExecutedBlock, config: ChainConfig): string {
  const params = blobParamsAt(config, header.timestamp);
  const { excessBlobGas } = header;
  const blob =
    params === undefined || excessBlobGas === undefined
      ? "null"
      : `{"excess_blob_gas":${excessBlobGas},"blob_gasprice":${blobBaseFee(excessBlobGas, params)}}`;
  return (
    `{"number":"${toQuantity(header.number)}","beneficiary":"${header.coinbase}"` +
    `,"timestamp":"${toQuantity(header.timestamp)}","gas_limit":${header.gasLimit}` +
    `,"basefee":${header.baseFeePerGas ?? 0n},"difficulty":"${toQuantity(header.difficulty)}"` +
    `,"prevrandao":"${header.mixHash}","blob_excess_gas_and_price":${blob},"slot_num":${header.slotNumber ?? 0n}}`
  );
}

/** JSON of a block, and of each of its transactions with its receipt, as anvil's file lists them. */
export function blockTexts({ block, senders, receipts }: ExecutedBlock): {
  readonly block: string;
  readonly transactions: readonly string[];
} {
  const { hash, header, transactions, uncles, withdrawals } = block;
  return {
    block: JSON.stringify({
      header: headerJson(header),
      transactions: transactions.map((tx, i) => {
        const sender = senders[i]!;
        const isKeyless = isUnsigned(tx) || impersonatedSender(tx) === sender;
        return { transaction: transactionJson(tx), impersonated_sender: isKeyless ? sender : null };
      }),
      ommers: uncles.map(headerJson),
      withdrawals: withdrawals?.map(withdrawalJson) ?? null,
    }),
    transactions: transactions.map((tx, i) =>
      JSON.stringify({
        info: {
          transaction_hash: tx.hash,
          transaction_index: i,
          from: senders[i]!,
          to: tx.to,
          contract_address: receipts[i]!.contractAddress,
          traces: [],
          exit: receipts[i]!.status === 0 ? "Revert" : "Return",
          out: null,
          nonce: Number(tx.nonce),
          gas_used: Number(receipts[i]!.gasUsed),
        },
        receipt: receiptJson(receipts[i]!),
        block_hash: hash,
        block_number: header.number,
      }),
    ),
  };
}

function headerJson(header: Header) {
  const { coinbase, logsBloom, difficulty, number, gasLimit, gasUsed, timestamp, extraData, nonce, ...rest } = header;
  const { baseFeePerGas, blobGasUsed, excessBlobGas, slotNumber, ...hashes } = rest;
  return {
    ...hashes,
    miner: coinbase,
    logsBloom: bytesToHex(logsBloom),
    difficulty: toQuantity(difficulty),
    number: toQuantity(number),
    gasLimit: toQuantity(gasLimit),
    gasUsed: toQuantity(gasUsed),
    timestamp: toQuantity(timestamp),
    extraData: bytesToHex(extraData),
    nonce: bytesToHex(nonce),
    ...(baseFeePerGas !== undefined && { baseFeePerGas: toQuantity(baseFeePerGas) }),
    ...(blobGasUsed !== undefined && { blobGasUsed: toQuantity(blobGasUsed) }),
    ...(excessBlobGas !== undefined && { excessBlobGas: toQuantity(excessBlobGas) }),
    ...(slotNumber !== undefined && { slotNumber: toQuantity(slotNumber) }),
  };
}

function withdrawalJson({ index, validatorIndex, address, amount }: Withdrawal) {
  return { index: toQuantity(index), validatorIndex: toQuantity(validatorIndex), address, amount: toQuantity(amount) };
}

function transactionJson(tx: Transaction) {
  const { type, nonce, gasLimit, to, value, data, v, r, s, raw } = tx;
  return {
    type: toQuantity(type),
    ...(tx.chainId !== undefined && { chainId: toQuantity(tx.chainId) }),
    nonce: toQuantity(nonce),
    gas: toQuantity(gasLimit),
    ...(tx.type < 2 && "gasPrice" in tx && { gasPrice: toQuantity(tx.gasPrice) }),
    ...("maxFeePerGas" in tx && {
      maxFeePerGas: toQuantity(tx.maxFeePerGas),
      maxPriorityFeePerGas: toQuantity(tx.maxPriorityFeePerGas),
    }),
    to,
    value: toQuantity(value),
    ...(tx.type !== 0 && { accessList: tx.accessList, yParity: toQuantity(v) }),
    ...(tx.type === 3 && {
      blobVersionedHashes: tx.blobVersionedHashes,
      maxFeePerBlobGas: toQuantity(tx.maxFeePerBlobGas),
    }),
    ...(tx.type === 4 && {
      authorizationList: tx.authorizationList.map((authorization) => ({
        chainId: toQuantity(authorization.chainId),
        address: authorization.address,
        nonce: toQuantity(authorization.nonce),
        yParity: toQuantity(authorization.yParity),
        r: toQuantity(authorization.r),
        s: toQuantity(authorization.s),
      })),
    }),
    input: bytesToHex(data),
    r: toQuantity(r),
    s: toQuantity(s),
    v: toQuantity(v),
    // The hash of the canonical form, which is not the hash of a transaction without a signature.
    hash: keccak256Hash(raw),
  };
}

function receiptJson({ type, status = 1, cumulativeGasUsed, logs, logsBloom: bloom }: Receipt) {
  return {
    type: toQuantity(type),
    status: toQuantity(status),
    cumulativeGasUsed: toQuantity(cumulativeGasUsed),
    logs: logs.map(({ address, topics, data }) => ({ address, topics, data: bytesToHex(data) })),
    logsBloom: bytesToHex(bloom),
  };
}
