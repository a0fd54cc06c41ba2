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
import { type HeaderReaders, headerFromJson } from "../base/types/header-json.ts";
import type { Log, Receipt } from "../base/types/receipt.ts";
import type { TransactionFields } from "../base/types/transaction/codec.ts";
import { buildTransaction } from "../base/types/transaction/encode.ts";
import { blobGasOf, effectiveGasPrice } from "../base/types/transaction/fees.ts";
import { impersonatedSender, includedHash, isUnsigned } from "../base/types/transaction/impersonation.ts";
import { recoverSender } from "../base/types/transaction/sender.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import { createAddress } from "../evm/machine/contract-creation.ts";
import {
  addressAt,
  below,
  bytesAt,
  hashAt,
  listAt,
  type Members,
  malformed,
  membersAt,
  numberAt,
  uint64At,
  WORD_END,
  wordAt,
} from "./dump-json.ts";

const TOPICS_MAX = 4;
const ENTRIES_PER_STEP = 64;
/** A byte of the wire. */
const BYTE_END = 256n;

/** A header with what its members are in the file. */
type Listed = { readonly header: Header; readonly hash: Hash; readonly block: Members; readonly place: string };

/**
 * The blocks of a dump that lead to block `best`, ascending, each the parent of the next one; none where the dump lists none. Receipts lack the price of blob gas,
 * which the rules of the chain give (`withBlobPrices`).
 * @throws DevControlError
 */
export function* blocksInSteps(dump: Members, best: number): Generator<undefined, ExecutedBlock[]> {
  const listed = new Map<Hash, Listed>();
  let last: Listed | undefined;
  for (const [index, value] of listAt(dump["blocks"] ?? [], "blocks").entries()) {
    const place = `blocks.${index}`;
    const block = membersAt(value, place);
    const header = headerFromJson(membersAt(block["header"], `${place}.header`), readersAt(`${place}.header`));
    const entry = { header, hash: headerHash(header), block, place };
    listed.set(entry.hash, entry);
    if (header.number === best) last = entry;
    yield;
  }
  if (listed.size === 0) return [];
  if (last === undefined) return malformed("best_block_number", "the number of one of its blocks");
  const included = yield* includedTransactions(dump["transactions"]);
  const blocks: ExecutedBlock[] = [];
  for (let next: Listed | undefined = last; next !== undefined; ) {
    blocks.push(yield* executedBlock(next, included));
    const { number, parentHash } = next.header;
    const parent = listed.get(parentHash);
    if (parent !== undefined && parent.header.number !== number - 1) {
      malformed(`${parent.place}.header.number`, "one less than that of the block after it");
    }
    next = parent;
    yield;
  }
  return blocks.reverse();
}

function readersAt(place: string): HeaderReaders {
  const at = (name: string) => `${place}.${name}`;
  return {
    hash: (value, name) => hashAt(value, at(name)),
    address: (value, name) => addressAt(value, at(name)),
    bytes: (value, lengthMax, name) => bytesAt(value, at(name), lengthMax),
    word: (value, name) => below(WORD_END, value, at(name)),
    gas: (value, name) => uint64At(value, at(name)),
    number: (value, name) => numberAt(value, at(name)),
  };
}

/** An entry of `transactions`, with its place. */
type Included = { readonly members: Members; readonly info: Members; readonly place: string };

/** By the block's hash and the index in it. */
function* includedTransactions(value: unknown): Generator<undefined, ReadonlyMap<string, Included>> {
  const found = new Map<string, Included>();
  for (const [index, entry] of listAt(value ?? [], "transactions").entries()) {
    const place = `transactions.${index}`;
    const members = membersAt(entry, place);
    const info = membersAt(members["info"], `${place}.info`);
    const block = hashAt(members["block_hash"], `${place}.block_hash`);
    const at = numberAt(info["transaction_index"], `${place}.info.transaction_index`);
    found.set(`${block}/${at}`, { members, info, place });
    if (index % ENTRIES_PER_STEP === 0) yield;
  }
  return found;
}

function* executedBlock(
  { header, hash, block, place }: Listed,
  included: ReadonlyMap<string, Included>,
): Generator<undefined, ExecutedBlock> {
  const transactions: Transaction[] = [];
  const senders: Address[] = [];
  const receipts: Receipt[] = [];
  let gasBefore = 0n;
  for (const [index, value] of listAt(block["transactions"], `${place}.transactions`).entries()) {
    const at = `${place}.transactions.${index}`;
    const { tx, sender } = transactionAt(membersAt(value, at), at);
    const entry = included.get(`${hash}/${index}`);
    if (entry === undefined) return malformed(at, "one of those that transactions lists");
    const { members, info, place: entryPlace } = entry;
    if (hashAt(info["transaction_hash"], `${entryPlace}.info.transaction_hash`) !== tx.hash) {
      malformed(`${entryPlace}.info.transaction_hash`, `the hash of ${at}`);
    }
    const receipt = receiptAt(membersAt(members["receipt"], `${entryPlace}.receipt`), {
      tx,
      sender,
      gasBefore,
      baseFeePerGas: header.baseFeePerGas ?? 0n,
      place: `${entryPlace}.receipt`,
    });
    gasBefore = receipt.cumulativeGasUsed;
    transactions.push(tx);
    senders.push(sender);
    receipts.push(receipt);
    // Its signer was recovered.
    yield;
  }
  const ommers = listAt(block["ommers"] ?? [], `${place}.ommers`);
  const uncles = ommers.map((uncle, i) => {
    const at = `${place}.ommers.${i}`;
    return headerFromJson(membersAt(uncle, at), readersAt(at));
  });
  return {
    block: {
      hash,
      header,
      transactions,
      uncles,
      // anvil writes null for a list that is empty.
      ...(header.withdrawalsRoot !== undefined && {
        withdrawals: withdrawalsAt(block["withdrawals"] ?? [], `${place}.withdrawals`),
      }),
    },
    senders,
    receipts,
  };
}

function withdrawalsAt(value: unknown, place: string): Withdrawal[] {
  return listAt(value, place).map((item, i) => {
    const at = `${place}.${i}`;
    const { index, validatorIndex, address, amount } = membersAt(item, at);
    return {
      index: uint64At(index, `${at}.index`),
      validatorIndex: uint64At(validatorIndex, `${at}.validatorIndex`),
      address: addressAt(address, `${at}.address`),
      amount: uint64At(amount, `${at}.amount`),
    };
  });
}

function transactionAt(value: Members, place: string): { readonly tx: Transaction; readonly sender: Address } {
  const at = `${place}.transaction`;
  const members = membersAt(value["transaction"], at);
  const word = (name: string) => below(WORD_END, members[name], `${at}.${name}`);
  // A typed transaction has the parity as v, too.
  const signature = { v: word(members["v"] == null ? "yParity" : "v"), r: word("r"), s: word("s") };
  const signed = buildTransaction(fieldsAt(members, at), signature);
  if (hashAt(members["hash"], `${at}.hash`) !== signed.hash) malformed(`${at}.hash`, "the hash of its members");
  const given = value["impersonated_sender"];
  const sender = given == null ? senderOf(signed, at) : addressAt(given, `${place}.impersonated_sender`);
  const isKeyless = isUnsigned(signed) || impersonatedSender(signed) === sender;
  if (given != null && !isKeyless) malformed(at, "one without a signature, as impersonated_sender says");
  return { tx: { ...signed, hash: includedHash(signed.raw, sender) }, sender };
}

function senderOf(tx: Transaction, place: string): Address {
  try {
    return recoverSender(tx);
  } catch {
    return malformed(place, "a signed transaction");
  }
}

function fieldsAt(members: Members, place: string): TransactionFields {
  const at = (name: string) => `${place}.${name}`;
  const word = (name: string) => below(WORD_END, members[name], at(name));
  const type = below(BYTE_END, members["type"] ?? 0, at("type"));
  const base = {
    nonce: uint64At(members["nonce"], at("nonce")),
    gasLimit: uint64At(members["gas"], at("gas")),
    to: members["to"] == null ? null : addressAt(members["to"], at("to")),
    value: word("value"),
    data: bytesAt(members["input"], at("input")),
  };
  if (type === 0n) {
    return {
      ...base,
      type: 0,
      chainId: members["chainId"] == null ? undefined : word("chainId"),
      gasPrice: word("gasPrice"),
    };
  }
  const typed = {
    ...base,
    chainId: word("chainId"),
    accessList: accessListAt(members["accessList"], at("accessList")),
  };
  if (type === 1n) return { ...typed, type: 1, gasPrice: word("gasPrice") };
  const fees = {
    ...typed,
    maxPriorityFeePerGas: word("maxPriorityFeePerGas"),
    maxFeePerGas: word("maxFeePerGas"),
  };
  if (type === 2n) return { ...fees, type: 2 };
  if (type === 3n) {
    const hashes = listAt(members["blobVersionedHashes"], at("blobVersionedHashes"));
    return {
      ...fees,
      type: 3,
      maxFeePerBlobGas: word("maxFeePerBlobGas"),
      blobVersionedHashes: hashes.map((hash, i) => hashAt(hash, `${at("blobVersionedHashes")}.${i}`)),
    };
  }
  if (type !== 4n) return malformed(at("type"), "one of Ethereum's, 0x0 to 0x4");
  const authorizations = listAt(members["authorizationList"], at("authorizationList"));
  return {
    ...fees,
    type: 4,
    authorizationList: authorizations.map((item, i) => {
      const place = `${at("authorizationList")}.${i}`;
      const { chainId, address, nonce, yParity, r, s } = membersAt(item, place);
      return {
        chainId: below(WORD_END, chainId, `${place}.chainId`),
        address: addressAt(address, `${place}.address`),
        nonce: uint64At(nonce, `${place}.nonce`),
        yParity: below(BYTE_END, yParity, `${place}.yParity`),
        r: below(WORD_END, r, `${place}.r`),
        s: below(WORD_END, s, `${place}.s`),
      };
    }),
  };
}

function accessListAt(value: unknown, place: string) {
  return listAt(value ?? [], place).map((item, i) => {
    const at = `${place}.${i}`;
    const { address, storageKeys } = membersAt(item, at);
    return {
      address: addressAt(address, `${at}.address`),
      storageKeys: listAt(storageKeys, `${at}.storageKeys`).map((key, k) => wordAt(key, `${at}.storageKeys.${k}`)),
    };
  });
}

type ReceiptPlace = {
  readonly tx: Transaction;
  readonly sender: Address;
  /** Of the transactions before it in the block. */
  readonly gasBefore: bigint;
  readonly baseFeePerGas: bigint;
  readonly place: string;
};

function receiptAt(members: Members, { tx, sender, gasBefore, baseFeePerGas, place }: ReceiptPlace): Receipt {
  const status = below(2n, members["status"], `${place}.status`);
  const cumulativeGasUsed = uint64At(members["cumulativeGasUsed"], `${place}.cumulativeGasUsed`);
  if (cumulativeGasUsed < gasBefore) malformed(`${place}.cumulativeGasUsed`, "at least that of the transaction before");
  const logs = listAt(members["logs"], `${place}.logs`).map((log, i) =>
    logAt(membersAt(log, place), `${place}.logs.${i}`),
  );
  return {
    type: tx.type,
    status: status === 0n ? 0 : 1,
    cumulativeGasUsed,
    gasUsed: cumulativeGasUsed - gasBefore,
    logsBloom: logsBloom(logs),
    logs,
    contractAddress: tx.to === null ? createAddress(sender, tx.nonce) : null,
    effectiveGasPrice: effectiveGasPrice(tx, baseFeePerGas),
    ...(tx.type === 3 && { blobGasUsed: blobGasOf(tx) }),
  };
}

function logAt({ address, topics, data }: Members, place: string): Log {
  const list = listAt(topics, `${place}.topics`);
  if (list.length > TOPICS_MAX) malformed(`${place}.topics`, `a list of at most ${TOPICS_MAX}`);
  return {
    address: addressAt(address, `${place}.address`),
    topics: list.map((topic, i) => hashAt(topic, `${place}.topics.${i}`)),
    data: bytesAt(data, `${place}.data`),
  };
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
