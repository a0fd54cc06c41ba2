import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { encodePooledTransaction } from "../../../base/types/transaction/encode.ts";
import { blockNumberOrTag, byHash } from "../../ports/block-selector.ts";
import { address, data, hash, quantity64, quantityNumber, rawJsonOf } from "../../transport/codec.ts";
import { aliasMethod } from "../../transport/dispatch/method.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { listInSteps } from "../json/list-in-steps.ts";
import { logsTextOf, receiptText } from "../json/receipt-json.ts";
import { LOG, listOf, orNull, RECEIPT, TRANSACTION } from "../json/schemas.ts";
import { minedTransactionText, transactionText } from "../json/transaction-json.ts";

/** `eth_getTransactionByHash`: a mined, pending or queued transaction; null if unknown. */
export const getTransactionByHash = defineMethod({
  name: "eth_getTransactionByHash",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJsonOf(orNull(TRANSACTION)),
  handle: ({ transactionHash }, { chain }) =>
    andThen(chain.transaction({ hash: transactionHash }), (mined) => {
      if (mined) return minedTransactionText(mined);
      return andThen(chain.pooled({ hash: transactionHash }), (pooled) => {
        if (pooled) return transactionText(pooled.tx, pooled.sender);
        // Where the pool is in another process, a block may have included it between the two looks.
        return andThen(chain.transaction({ hash: transactionHash }), (mined) =>
          mined ? minedTransactionText(mined) : "null",
        );
      });
    }),
});

/** `eth_getTransactionByBlockHashAndIndex`: a transaction by block and index; null if either does not exist. */
export const getTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  example: [SAMPLE.hash, "0x0"],
  result: rawJsonOf(orNull(TRANSACTION)),
  handle: ({ blockHash, index }, { chain }) =>
    andThen(chain.transactionAt({ at: byHash(blockHash), index }), minedTransactionText),
});

/** `eth_getTransactionByBlockNumberAndIndex`: a transaction by block and index; null if either does not exist. */
export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  example: ["latest", "0x0"],
  result: rawJsonOf(orNull(TRANSACTION)),
  handle: ({ block, index }, { chain }) => andThen(chain.transactionAt({ at: block, index }), minedTransactionText),
});

/** The same under the spelling of the service description. */
export const getTransactionbyBlockNumberAndIndex = aliasMethod(
  getTransactionByBlockNumberAndIndex,
  "eth_getTransactionbyBlockNumberAndIndex",
);

/** `eth_getTransactionBySenderAndNonce`: the sender's mined or pooled transaction with that nonce; null if none. */
export const getTransactionBySenderAndNonce = defineMethod({
  name: "eth_getTransactionBySenderAndNonce",
  params: { sender: address, nonce: quantity64 },
  example: [SAMPLE.alice, "0x0"],
  result: rawJsonOf(orNull(TRANSACTION)),
  handle: ({ sender, nonce }, { chain }) =>
    andThen(chain.transactionBySender({ sender, nonce }), ({ isUsed, mined }) => {
      // A nonce is also used up by an authorization (EIP-7702) or by a contract that creates another.
      if (isUsed) return minedTransactionText(mined);
      return andThen(chain.poolContentFrom({ address: sender }), ({ pending, queued }) => {
        const pooled = [...pending, ...queued].find(({ tx }) => tx.nonce === nonce);
        return pooled ? transactionText(pooled.tx, sender) : "null";
      });
    }),
});

/** `eth_getTransactionReceipt`: the receipt of a mined transaction; null otherwise, without waiting. */
export const getTransactionReceipt = defineMethod({
  name: "eth_getTransactionReceipt",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJsonOf(orNull(RECEIPT)),
  handle: ({ transactionHash }, { chain }) =>
    andThen(chain.receipt({ hash: transactionHash }), (mined) => (mined ? receiptText(mined) : "null")),
});

/** `eth_getTransactionLogs`: the logs of a mined transaction, as in evmd; null otherwise. */
export const getTransactionLogs = defineMethod({
  name: "eth_getTransactionLogs",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJsonOf(orNull(listOf(LOG))),
  handle: ({ transactionHash }, { chain }) =>
    andThen(chain.receipt({ hash: transactionHash }), (mined) => (mined ? logsTextOf(mined) : "null")),
});

/**
 * `eth_getRawTransactionByHash`: canonical encoding (EIP-2718) of a mined transaction, or of a pooled one with its blobs; `0x` if unknown,
 * as in geth.
 */
export const getRawTransactionByHash = defineMethod({
  name: "eth_getRawTransactionByHash",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: data,
  handle: ({ transactionHash }, { chain }) =>
    andThen(chain.transaction({ hash: transactionHash }), (mined) => {
      if (mined) return mined.tx.raw;
      return andThen(chain.pooled({ hash: transactionHash }), (pooled) => {
        if (pooled) return encodePooledTransaction(pooled.tx, pooled.sidecar);
        // Where the pool is in another process, a block may have included it between the two looks.
        return andThen(chain.transaction({ hash: transactionHash }), (mined) => mined?.tx.raw ?? EMPTY_BYTES);
      });
    }),
});

/** `eth_getRawTransactionByBlockHashAndIndex`: canonical encoding (EIP-2718); `0x` if block or index does not exist. */
export const getRawTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  example: [SAMPLE.hash, "0x0"],
  result: data,
  handle: ({ blockHash, index }, { chain }) =>
    andThen(chain.transactionAt({ at: byHash(blockHash), index }), (mined) => mined?.tx.raw ?? EMPTY_BYTES),
});

/** `eth_getRawTransactionByBlockNumberAndIndex`: canonical encoding (EIP-2718); `0x` if block or index does not exist. */
export const getRawTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  example: ["latest", "0x0"],
  result: data,
  handle: ({ block, index }, { chain }) =>
    andThen(chain.transactionAt({ at: block, index }), (mined) => mined?.tx.raw ?? EMPTY_BYTES),
});

/** `eth_pendingTransactions`: the executable pool transactions of accounts this node signs for. */
export const pendingTransactions = defineMethod({
  name: "eth_pendingTransactions",
  params: {},
  result: rawJsonOf(listOf(TRANSACTION)),
  async handle(_params, { chain, keys, sessions }) {
    const accounts = await keys.accounts();
    const contents = await Promise.all(accounts.map((account) => chain.poolContentFrom({ address: account })));
    const pooled = contents.flatMap(({ pending }) => pending);
    return inSlices(
      listInSteps(pooled, ({ tx, sender }) => transactionText(tx, sender)),
      sessions.slices.json,
    );
  },
});
