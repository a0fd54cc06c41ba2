/** Members of a transaction as `eth_getTransactionByHash` shows it. */
type SearchedTransaction = {
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly hash: string;
  readonly nonce: string;
  readonly transactionIndex: string;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly gas: string;
  readonly gasPrice: string;
  readonly input: string;
};

type SearchedReceipt = {
  readonly status?: string;
  readonly contractAddress: string | null;
  readonly cumulativeGasUsed: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly timestamp: number;
};

/** What the search by address answers. */
export type SearchedTransactions = {
  readonly txs: readonly SearchedTransaction[];
  readonly receipts: readonly SearchedReceipt[];
};

/** `0x` and a function selector. */
const SELECTOR_CHARS = 10;

const decimal = (quantity: string) => BigInt(quantity).toString();

/** A row of `txlist`: numbers are decimal texts. */
export function listedTransaction(tx: SearchedTransaction, receipt: SearchedReceipt, head: number): object {
  const isFailed = receipt.status === "0x0";
  return {
    blockNumber: decimal(tx.blockNumber),
    blockHash: tx.blockHash,
    timeStamp: String(receipt.timestamp),
    hash: tx.hash,
    nonce: decimal(tx.nonce),
    transactionIndex: decimal(tx.transactionIndex),
    from: tx.from,
    to: tx.to ?? "",
    value: decimal(tx.value),
    gas: decimal(tx.gas),
    gasPrice: decimal(receipt.effectiveGasPrice ?? tx.gasPrice),
    input: tx.input,
    methodId: tx.input.slice(0, SELECTOR_CHARS),
    functionName: "",
    contractAddress: receipt.contractAddress ?? "",
    cumulativeGasUsed: decimal(receipt.cumulativeGasUsed),
    gasUsed: decimal(receipt.gasUsed),
    txreceipt_status: isFailed ? "0" : "1",
    isError: isFailed ? "1" : "0",
    confirmations: String(head - Number(tx.blockNumber) + 1),
  };
}
