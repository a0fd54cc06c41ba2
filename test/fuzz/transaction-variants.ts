import { GAS_PER_BLOB, INIT_CODE_SIZE_MAX, TX_GAS_LIMIT_MAX } from "../../src/base/params/gas.ts";
import { RULES_AT } from "../../src/base/params/hardforks.ts";
import { effectiveGasPrice } from "../../src/base/types/transaction/fees.ts";
import { recoverSender } from "../../src/base/types/transaction/sender.ts";
import { intrinsicGas } from "../../src/evm/execution/transaction/message.ts";
import { createRandom } from "./random.ts";
import { SENDERS, type TransactionCase, transactionBlockOf, transactionOf } from "./transaction-case.ts";
import type { TransactionOutcome } from "./transaction-run.ts";

/** Borders other than those of the gas limit that are tried for one case. */
const OTHERS_TRIED = 6;
const UINT64_MAX = 2n ** 64n - 1n;

/** `fuzzCase` with one change, so that it just satisfies or just breaks a rule. `outcome` is that of the original case. */
export function variantsOf(fuzzCase: TransactionCase, { gasUsed, maxUsedGas }: TransactionOutcome): TransactionCase[] {
  const random = createRandom(Number(gasUsed % 2n ** 32n) + Number(fuzzCase.gas));
  const tx = transactionOf(fuzzCase);
  const { intrinsic, floor } = intrinsicGas(tx, recoverSender(tx), fuzzCase.hardfork);
  const gasLimits = [intrinsic, floor, gasUsed, maxUsedGas].flatMap((gas) => [gas - 1n, gas, gas + 1n]);
  gasLimits.push(intrinsic + BigInt(random.int(Number(maxUsedGas) + 1)));
  // A run that comes to its end soon does so with more gas too.
  if (gasUsed > 0n && gasUsed < BigInt(fuzzCase.gas)) {
    gasLimits.push(random.pick([TX_GAS_LIMIT_MAX, TX_GAS_LIMIT_MAX + 1n, 30_000_000n, 30_000_001n]));
  }
  const distinct = new Set(gasLimits.filter((gas) => gas > 0n && gas !== BigInt(fuzzCase.gas)));
  const others = otherVariants(fuzzCase);
  return [
    ...[...distinct].map((gas) => ({ ...fuzzCase, gas: gas.toString() })),
    ...initCodeVariants(fuzzCase, tx.data.length),
    ...Array.from({ length: OTHERS_TRIED }, () => random.pick(others)()),
  ];
}

/** Creations whose init code has the maximum length, and one byte more (EIP-3860). */
function initCodeVariants(fuzzCase: TransactionCase, length: number): TransactionCase[] {
  if (fuzzCase.to !== null || length % 4 !== 0) return [];
  return [INIT_CODE_SIZE_MAX, INIT_CODE_SIZE_MAX + 1].map((size) => ({
    ...fuzzCase,
    data: `${fuzzCase.data}${"00".repeat(size - length)}`,
    gas: "2000000",
  }));
}

/** Balances, fees, nonces and chain ids at their borders. */
function otherVariants(fuzzCase: TransactionCase): (() => TransactionCase)[] {
  const tx = transactionOf(fuzzCase);
  const { baseFeePerGas, blobBaseFee } = transactionBlockOf(fuzzCase);
  const blobGas = BigInt(fuzzCase.blobVersionedHashes.length) * GAS_PER_BLOB;
  const gas = BigInt(fuzzCase.gas);
  const value = BigInt(fuzzCase.value);
  const price = BigInt(fuzzCase.maxFeePerGas);
  const required = gas * price + value + blobGas * BigInt(fuzzCase.maxFeePerBlobGas);
  const paid = gas * effectiveGasPrice(tx, baseFeePerGas) + value + blobGas * blobBaseFee;
  const withBalance = (balance: bigint) => () => ({
    ...fuzzCase,
    accounts: fuzzCase.accounts.map((account) =>
      account.address === SENDERS[fuzzCase.sender]
        ? { ...account, balance: (balance < 0n ? 0n : balance).toString() }
        : account,
    ),
  });
  const withFees = (maxFee: bigint, priority: bigint) => () => ({
    ...fuzzCase,
    maxFeePerGas: (maxFee < 0n ? 0n : maxFee).toString(),
    maxPriorityFeePerGas: (priority < 0n ? 0n : priority).toString(),
  });
  const withNonce = (nonce: bigint) => () => ({
    ...fuzzCase,
    nonce: (nonce < 0n ? 0n : nonce > UINT64_MAX ? UINT64_MAX : nonce).toString(),
  });
  const nonce = BigInt(fuzzCase.nonce);
  return [
    ...[required, required - 1n, required + 1n, paid, paid - 1n, value, 0n].map(withBalance),
    withFees(baseFeePerGas, 0n),
    withFees(baseFeePerGas, baseFeePerGas),
    withFees(baseFeePerGas, baseFeePerGas + 1n),
    withFees(baseFeePerGas - 1n, 0n),
    withFees(baseFeePerGas + 5n, 5n),
    withFees(baseFeePerGas + 5n, 6n),
    withFees(2n ** 256n / gas, 0n),
    withFees(2n ** 256n - 1n, 0n),
    withNonce(nonce + 1n),
    withNonce(nonce - 1n),
    ...[blobBaseFee, blobBaseFee - 1n].map((fee) => () => ({
      ...fuzzCase,
      maxFeePerBlobGas: (fee < 0n ? 0n : fee).toString(),
    })),
    // Before EIP-155 a transaction with a chain id is no good anyway.
    () => ({
      ...fuzzCase,
      chainId: RULES_AT[fuzzCase.hardfork].spuriousDragon ? "1338" : fuzzCase.chainId,
    }),
    () => ({ ...fuzzCase, value: (10n ** 20n).toString() }),
    () => ({ ...fuzzCase, value: (2n ** 256n - 1n).toString() }),
  ];
}
