import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { buildTransaction } from "../../../base/types/transaction/encode.ts";
import { impersonatingSignature } from "../../../base/types/transaction/impersonation.ts";
import { legacyV } from "../../../base/types/transaction/legacy.ts";
import { address, boolean, hash, nullable, rawJsonOf } from "../../transport/codec.ts";
import { defineForwardedMethod } from "../define-method.ts";
import { RECEIPT_TIMEOUT_MS, receiptOf, sendUnlocked } from "../eth/submit.ts";
import { fillTransactionFields } from "../eth/transaction-defaults.ts";
import { SAMPLE } from "../example-values.ts";
import { receiptText } from "../json/receipt-json.ts";
import { RECEIPT } from "../json/schemas.ts";
import { callArguments } from "../params/call-arguments.ts";
import { bothNames, controlMethods } from "./control-methods.ts";

/** `eth_sendUnsignedTransaction`: sends a transaction from any account, including contracts, without a key; returns the hash. */
export const sendUnsignedTransaction = defineForwardedMethod({
  name: "eth_sendUnsignedTransaction",
  params: { request: callArguments },
  result: hash,
  private: true,
  heavy: true,
  async handle({ request }, modules) {
    const from = request.from ?? ZERO_ADDRESS;
    const fields = await fillTransactionFields({ ...request, from }, modules);
    const { r, s, yParity } = impersonatingSignature(from);
    const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
    return modules.dev.submitUnsigned({ raw: buildTransaction(fields, { v, r, s }).raw });
  },
});

/**
 * `eth_sendTransactionSync`: as `eth_sendTransaction`, but answers with the receipt once the transaction is mined; anvil's method, on dev chains.
 *
 * @throws ReceiptTimeoutError and what `eth_sendTransaction` throws
 */
export const sendTransactionSync = defineForwardedMethod({
  name: "eth_sendTransactionSync",
  params: { request: callArguments },
  example: [SAMPLE.call],
  result: rawJsonOf(RECEIPT),
  private: true,
  heavy: true,
  async handle({ request }, modules, { signal }) {
    return receiptText(await receiptOf(await sendUnlocked(request, modules), RECEIPT_TIMEOUT_MS, modules, signal));
  },
});

/** Removes a transaction from the pool; returns whether it was pooled. */
export const dropTransaction = controlMethods({
  names: ["hardhat_dropTransaction"],
  params: { hash },
  result: boolean,
  handle: ({ hash }, { dev }) => dev.drop({ hash }),
});

/** Removes a transaction from the pool; returns its hash, or null if it was not pooled. */
export const dropTransactionByHash = controlMethods({
  names: ["anvil_dropTransaction"],
  params: { hash },
  result: nullable(hash),
  handle: async ({ hash }, { dev }) => ((await dev.drop({ hash })) ? hash : null),
});

/** Empties the pool. */
export const dropAllTransactions = controlMethods({
  names: bothNames("dropAllTransactions"),
  params: {},
  handle: (_params, { dev }) => dev.dropAll({}),
});

/** Removes an account's transactions from the pool. */
export const removePoolTransactions = controlMethods({
  names: ["anvil_removePoolTransactions"],
  params: { address },
  handle: ({ address }, { dev }) => dev.dropAll({ sender: address }),
});
