import { LogFilter } from "../../../chain/logs/log-filter.ts";
import { array, boolean, hash, object, optional } from "../../transport/codec.ts";
import { SubscriptionArgumentError } from "../../transport/errors.ts";
import { assertTermCount, logCriteria, resolveFutureRange } from "../params/log-criteria.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { defineSubscription, subscriptionMethods } from "../subscriptions/define-subscription.ts";

/** geth's bound of one `transactionReceipts` subscription. */
const RECEIPT_HASHES_MAX = 200;

/**
 * `newHeads`: the header of every block that becomes the head; with `includeTransactions` the block with the hashes of its
 * transactions, with `transactionDetails` too the transactions themselves.
 */
const newHeads = defineSubscription({
  name: "newHeads",
  params: {
    options: optional(object("newHeads", { includeTransactions: boolean, transactionDetails: boolean })),
  },
  start({ options }, { sessions }: ServingPorts, subscriber) {
    const { includeTransactions = false, transactionDetails = false } = options ?? {};
    const form = !includeTransactions ? "header" : transactionDetails ? "full" : "hashes";
    return sessions.feeds.addHeads(subscriber, form);
  },
});

/** `logs`: every log of a new block that matches; again, with `removed`, when its block is taken back. */
const logs = defineSubscription({
  name: "logs",
  params: { criteria: logCriteria },
  start({ criteria }, { sessions, settings }: ServingPorts, subscriber) {
    assertTermCount(criteria, settings.logLimits.termsMax);
    const range = resolveFutureRange(criteria);
    return sessions.feeds.logs.add(subscriber, new LogFilter(criteria), range);
  },
});

/** `newPendingTransactions`: the hash of every transaction that becomes executable, or the transaction. */
const newPendingTransactions = defineSubscription({
  name: "newPendingTransactions",
  params: { isFull: optional(boolean, false) },
  start({ isFull }, { sessions }: ServingPorts, subscriber) {
    return sessions.feeds.addPending(subscriber, isFull);
  },
});

/** `transactionReceipts`: for each new block a list of the receipts of the transactions named, or of all. */
const transactionReceipts = defineSubscription({
  name: "transactionReceipts",
  params: {
    query: optional(object("input", { transactionHashes: array(hash, "[]common.Hash") }, "filters.input")),
  },
  start({ query }, { sessions }: ServingPorts, subscriber) {
    const hashes = query?.transactionHashes ?? [];
    if (hashes.length > RECEIPT_HASHES_MAX) throw new SubscriptionArgumentError();
    return sessions.feeds.receipts.add(subscriber, hashes);
  },
});

/** `syncing`: whether the node is behind the chain it follows, at once and whenever that changes. */
const syncing = defineSubscription({
  name: "syncing",
  params: {},
  start: (_params, { sessions }: ServingPorts, subscriber) => sessions.feeds.addSyncing(subscriber),
});

/** `eth_subscribe` and `eth_unsubscribe`. */
export const ethSubscriptions = subscriptionMethods<ServingPorts>({
  namespace: "eth",
  known: [newHeads, logs, newPendingTransactions, transactionReceipts, syncing],
  example: ["newHeads"],
});
