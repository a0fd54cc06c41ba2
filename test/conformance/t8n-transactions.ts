import type { Address } from "../../src/base/primitives/address.ts";
import { type Hash, parseHash } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { decodeRlp, encodeRlp } from "../../src/base/primitives/rlp.ts";
import type { TransactionFields } from "../../src/base/types/transaction/codec.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { buildTransaction } from "../../src/base/types/transaction/encode.ts";
import { chainIdFromV } from "../../src/base/types/transaction/legacy.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { Authorization, Transaction } from "../../src/base/types/transaction/transaction.ts";
import { type JsonNumber, numberOf } from "./alloc.ts";

/** A transaction as `evm t8n --input.txs` reads it: signed by v, r and s, or here and now by `secretKey`. */
export type T8nTransaction = {
  readonly type?: JsonNumber;
  readonly chainId?: JsonNumber;
  readonly nonce: JsonNumber;
  readonly to?: string | null;
  readonly gas: JsonNumber;
  readonly gasPrice?: JsonNumber;
  readonly maxFeePerGas?: JsonNumber;
  readonly maxPriorityFeePerGas?: JsonNumber;
  readonly maxFeePerBlobGas?: JsonNumber;
  readonly value: JsonNumber;
  readonly input: string;
  readonly accessList?: readonly { readonly address: string; readonly storageKeys: readonly string[] | null }[] | null;
  readonly blobVersionedHashes?: readonly string[];
  readonly authorizationList?: readonly JsonAuthorization[];
  readonly v?: JsonNumber;
  readonly r?: JsonNumber;
  readonly s?: JsonNumber;
  readonly secretKey?: string;
  /** false: a legacy transaction that is signed here has no chain id (EIP-155). */
  readonly protected?: boolean;
};

type JsonAuthorization = {
  readonly chainId: JsonNumber;
  readonly address: string;
  readonly nonce: JsonNumber;
  readonly yParity?: JsonNumber;
  readonly v?: JsonNumber;
  readonly r: JsonNumber;
  readonly s: JsonNumber;
};

/** The chain of `evm t8n` unless told otherwise. */
export const T8N_CHAIN_ID = 1n;

/**
 * Transactions of a case, each as a function, since decoding one may fail and then rejects that one alone.
 * @param txs JSON, or the RLP list of a block body
 */
export function transactionReaders(txs: readonly T8nTransaction[] | string): (() => Transaction)[] {
  if (typeof txs !== "string") return txs.map((tx) => () => transactionFromJson(tx));
  const items = decodeRlp(hexToBytes(txs));
  if (items instanceof Uint8Array) throw new Error("the transactions are no RLP list");
  return items.map((item) => () => decodeTransaction(item instanceof Uint8Array ? item : encodeRlp(item)));
}

function transactionFromJson(json: T8nTransaction): Transaction {
  const [v, r, s] = [number(json.v), number(json.r), number(json.s)];
  if (json.secretKey !== undefined && v === 0n && r === 0n && s === 0n) {
    const chainId = json.protected === false ? undefined : T8N_CHAIN_ID;
    return signTransaction(fieldsOf(json, chainId), hexToBytes(json.secretKey));
  }
  return buildTransaction(fieldsOf(json, chainIdFromV(v)), { v, r, s });
}

function fieldsOf(json: T8nTransaction, legacyChainId: bigint | undefined): TransactionFields {
  const base = {
    nonce: number(json.nonce),
    gasLimit: number(json.gas),
    to: json.to ? addressOf(json.to) : null,
    value: number(json.value),
    data: hexToBytes(json.input),
  };
  const type = Number(json.type ?? 0);
  if (type === 0) return { ...base, type, chainId: legacyChainId, gasPrice: number(json.gasPrice) };
  const accessList = (json.accessList ?? []).map(({ address, storageKeys }) => ({
    address: addressOf(address),
    storageKeys: (storageKeys ?? []).map(hashOf),
  }));
  const typed = { ...base, chainId: number(json.chainId), accessList };
  if (type === 1) return { ...typed, type, gasPrice: number(json.gasPrice) };
  const market = {
    ...typed,
    maxFeePerGas: number(json.maxFeePerGas),
    maxPriorityFeePerGas: number(json.maxPriorityFeePerGas),
  };
  if (type === 2) return { ...market, type };
  if (type === 3) {
    const blobVersionedHashes = (json.blobVersionedHashes ?? []).map(hashOf);
    return { ...market, type, maxFeePerBlobGas: number(json.maxFeePerBlobGas), blobVersionedHashes };
  }
  if (type !== 4) throw new Error(`transactions of type ${type} are unknown`);
  return { ...market, type, authorizationList: (json.authorizationList ?? []).map(authorizationOf) };
}

function authorizationOf({ chainId, address, nonce, yParity, v, r, s }: JsonAuthorization): Authorization {
  return {
    chainId: number(chainId),
    address: addressOf(address),
    nonce: number(nonce),
    yParity: number(yParity ?? v),
    r: number(r),
    s: number(s),
  };
}

const number = (value: JsonNumber | undefined): bigint => numberOf(value ?? "0x");
const addressOf = (text: string) => text.toLowerCase() as Address;
const hashOf = (text: string): Hash => parseHash(text.toLowerCase());
