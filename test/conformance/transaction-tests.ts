import { readFileSync } from "node:fs";
import { NodeError } from "../../src/base/errors.ts";
import { INIT_CODE_SIZE_MAX } from "../../src/base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { maxFeePerGasOf, maxPriorityFeeOf } from "../../src/base/types/transaction/fees.ts";
import { recoverSender } from "../../src/base/types/transaction/sender.ts";
import { intrinsicGas } from "../../src/evm/execution/transaction/message.ts";
import { jsonFiles } from "../support/fixtures.ts";
import { FORKS } from "./forks.ts";
import type { Suite } from "./suite.ts";

/** What the vector says of one transaction under one fork. */
type Expectation = {
  readonly exception?: string;
  readonly sender?: string;
  readonly hash?: string;
  readonly intrinsicGas: string;
};
type Vector = {
  readonly txbytes: string;
  readonly result: Readonly<Record<string, Expectation>>;
};

/** The vectors are signed for mainnet. */
const CHAIN_ID = 1n;

/** ethereum/tests, TransactionTests: decoding, sender, hash and intrinsic gas of a transaction under each fork. */
export const run: Suite = async ([dir]) => {
  if (!dir) throw new Error("usage: transaction-tests DIR");
  let passed = 0;
  let failed = 0;
  for (const file of jsonFiles(dir)) {
    const vectors = JSON.parse(readFileSync(file, "utf8")) as Record<string, Vector>;
    for (const [name, { txbytes, result }] of Object.entries(vectors)) {
      for (const [fork, expected] of Object.entries(result)) {
        const fault = check(hexToBytes(txbytes), fork, expected);
        if (fault === undefined) passed++;
        else {
          failed++;
          console.log(`${name} ${fork}: ${fault}`);
        }
      }
    }
  }
  return { passed, failed };
};

/** What differs, or undefined. */
function check(bytes: Uint8Array, fork: string, expected: Expectation): string | undefined {
  const hardfork = FORKS[fork];
  if (!hardfork) return "unknown fork";
  let accepted: ReturnType<typeof accept>;
  try {
    accepted = accept(bytes, hardfork);
  } catch (error) {
    if (!(error instanceof NodeError || error instanceof InvalidError)) throw error;
    return expected.exception ? undefined : `refused: ${error.message}`;
  }
  if (expected.exception) return `accepted, want ${expected.exception}`;
  for (const field of ["sender", "hash"] as const) {
    if (accepted[field] !== expected[field]?.toLowerCase()) {
      return `${field} is ${accepted[field]}, want ${expected[field]}`;
    }
  }
  if (accepted.intrinsicGas !== BigInt(expected.intrinsicGas)) {
    return `intrinsic gas is ${accepted.intrinsicGas}, want ${BigInt(expected.intrinsicGas)}`;
  }
  return undefined;
}

/** A rule of block execution, checked here because the vectors expect it of the transaction alone. */
class InvalidError extends Error {}

function accept(bytes: Uint8Array, hardfork: Hardfork) {
  const tx = decodeTransaction(bytes);
  const sender = recoverSender(tx, hardfork);
  if (tx.chainId !== undefined && tx.chainId !== CHAIN_ID) throw new InvalidError("chain id");
  if (tx.nonce === 2n ** 64n - 1n) throw new InvalidError("nonce has max value (EIP-2681)");
  if (maxPriorityFeeOf(tx) > maxFeePerGasOf(tx)) throw new InvalidError("tip above the fee cap");
  if (tx.gasLimit * maxFeePerGasOf(tx) >= 2n ** 256n) throw new InvalidError("cost overflow");
  if (tx.to === null && RULES_AT[hardfork].shanghai && tx.data.length > INIT_CODE_SIZE_MAX) {
    throw new InvalidError("init code too long (EIP-3860)");
  }
  const { intrinsic, floor } = intrinsicGas(tx, sender, hardfork);
  if (tx.gasLimit < intrinsic || tx.gasLimit < floor) throw new InvalidError("intrinsic gas");
  return { sender, hash: tx.hash, intrinsicGas: intrinsic };
}
