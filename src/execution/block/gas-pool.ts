import { InvalidTransactionError } from "../errors.ts";

/** Gas and blob gas left in a block. */
export type GasPool = {
  gas: bigint;
  blobGas: bigint;
};

/** @throws InvalidTransactionError when the block has less left. */
export function assertGasLeft(pool: GasPool, gas: bigint, blobGas: bigint): void {
  if (pool.gas < gas) {
    throw new InvalidTransactionError("TX_GAS_ALLOWANCE_EXCEEDED", "gas limit reached", {
      gasLeft: pool.gas,
      gasLimit: gas,
    });
  }
  if (pool.blobGas < blobGas) {
    throw new InvalidTransactionError(
      "TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED",
      "max data blobs reached",
      { blobGasLeft: pool.blobGas, blobGas },
    );
  }
}
