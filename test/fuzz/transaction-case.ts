import { addressFromPrivateKey, SECP256K1_ORDER } from "../../src/base/crypto/secp256k1.ts";
import { RULES_AT } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { concatBytes } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import type { TransactionFields } from "../../src/base/types/transaction/codec.ts";
import { signAuthorization, signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { Authorization, Transaction } from "../../src/base/types/transaction/transaction.ts";
import type { BlockContext } from "../../src/evm/machine/evm.ts";
import { assemble, type FuzzCase } from "./case.ts";
import { blockOf } from "./run.ts";

/** A transaction on a small world, as JSON; `gas` of the case is its gas limit. */
export type TransactionCase = FuzzCase & {
  readonly type: Transaction["type"];
  /** Index in `KEYS`. */
  readonly sender: number;
  readonly nonce: string;
  /** null: a legacy transaction without replay protection */
  readonly chainId: string | null;
  /** The gas price of types 0 and 1. */
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly maxFeePerBlobGas: string;
  readonly blobVersionedHashes: readonly Hash[];
  readonly authorizations: readonly FuzzAuthorization[];
  readonly coinbase: Address;
  readonly baseFeePerGas: string;
  readonly blobBaseFee: string;
};

export type FuzzAuthorization = {
  /** Index in `KEYS`. */
  readonly signer: number;
  readonly chainId: string;
  readonly address: Address;
  readonly nonce: string;
  /** What is wrong with the signature, if anything. */
  readonly fault?: "yParity" | "highS" | "zeroR" | "otherParity";
};

/** The first one sends; all of them sign authorizations. */
export const KEYS = [1, 2, 3].map((n) => new Uint8Array(32).fill(n));
export const SENDERS: readonly Address[] = KEYS.map(addressFromPrivateKey);

export function transactionBlockOf(fuzzCase: TransactionCase): BlockContext {
  const { hardfork, coinbase, baseFeePerGas, blobBaseFee } = fuzzCase;
  return {
    ...blockOf(fuzzCase),
    coinbase,
    baseFeePerGas: RULES_AT[hardfork].london ? BigInt(baseFeePerGas) : 0n,
    blobBaseFee: RULES_AT[hardfork].cancun ? BigInt(blobBaseFee) : 0n,
  };
}

/** The signed transaction of a case. */
export function transactionOf(fuzzCase: TransactionCase): Transaction {
  return signTransaction(fieldsOf(fuzzCase), KEYS[fuzzCase.sender]!);
}

function fieldsOf(fuzzCase: TransactionCase): TransactionFields {
  const { type, to, initCode, data, gas, nonce, value, chainId } = fuzzCase;
  const input = to === null ? concatBytes(assemble(initCode), hexToBytes(data)) : hexToBytes(data);
  const base = {
    to,
    nonce: BigInt(nonce),
    gasLimit: BigInt(gas),
    value: BigInt(value),
    data: input,
  };
  const maxFeePerGas = BigInt(fuzzCase.maxFeePerGas);
  if (type === 0) {
    const protection = chainId === null ? undefined : BigInt(chainId);
    return { ...base, type, chainId: protection, gasPrice: maxFeePerGas };
  }
  const accessList = fuzzCase.accessList.map(({ address, slots }) => ({
    address,
    storageKeys: slots.map((slot) => hashFromBigint(BigInt(slot))),
  }));
  const typed = { ...base, chainId: BigInt(chainId ?? 0), accessList };
  if (type === 1) return { ...typed, type, gasPrice: maxFeePerGas };
  const maxPriorityFeePerGas = BigInt(fuzzCase.maxPriorityFeePerGas);
  const market = { ...typed, maxFeePerGas, maxPriorityFeePerGas };
  if (type === 2) return { ...market, type };
  if (type === 4) {
    return { ...market, type, authorizationList: fuzzCase.authorizations.map(authorizationOf) };
  }
  const { blobVersionedHashes } = fuzzCase;
  const maxFeePerBlobGas = BigInt(fuzzCase.maxFeePerBlobGas);
  return { ...market, type, maxFeePerBlobGas, blobVersionedHashes };
}

function authorizationOf({ signer, chainId, address, nonce, fault }: FuzzAuthorization) {
  const fields = { chainId: BigInt(chainId), address, nonce: BigInt(nonce) };
  const signed: Authorization = signAuthorization(fields, KEYS[signer]!);
  switch (fault) {
    case "yParity":
      return { ...signed, yParity: signed.yParity + 2n };
    case "otherParity":
      return { ...signed, yParity: 1n - signed.yParity };
    case "highS":
      return { ...signed, s: SECP256K1_ORDER - signed.s, yParity: 1n - signed.yParity };
    case "zeroR":
      return { ...signed, r: 0n };
    default:
      return signed;
  }
}
