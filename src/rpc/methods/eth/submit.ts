import { NodeError } from "../../../base/errors.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { equalBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { buildTransaction, encodePooledTransaction } from "../../../base/types/transaction/encode.ts";
import { signingHash } from "../../../base/types/transaction/sign.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import type { MinedReceipt } from "../../ports/chain-view.ts";
import { data, hash, jsonUnsigned, optional, quantity, quantity64, rawJsonOf } from "../../transport/codec.ts";
import {
  ReceiptTimeoutError,
  RequestTimeoutError,
  TransactionFieldsError,
  TransactionNotFoundError,
} from "../../transport/errors.ts";
import { defineForwardedMethod, defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { receiptText } from "../json/receipt-json.ts";
import { RECEIPT, SIGNED_TRANSACTION } from "../json/schemas.ts";
import { signedTransactionText } from "../json/transaction-json.ts";
import { dataText } from "../json/write.ts";
import { callArguments } from "../params/call-arguments.ts";
import type { RpcPorts, ServingPorts } from "../rpc-ports.ts";
import { withBlobFields } from "./blob-fields.ts";
import { type SignDigest, signFields } from "./sign.ts";
import { fillTransactionFields } from "./transaction-defaults.ts";

/**
 * `eth_sendRawTransaction`: submits a signed transaction to the pool, type 3 with its blobs; returns its hash.
 *
 * @throws the decoder's, the pool's and the submission rules' rejections
 */
export const sendRawTransaction = defineMethod({
  name: "eth_sendRawTransaction",
  params: { raw: data },
  example: [SAMPLE.rawTransaction],
  result: hash,
  handle: ({ raw }, { chain }) => chain.submit({ transaction: raw }),
});

/** A waiting call occupies a slot of its connection: twenty seconds where the caller names no time, a minute at most. */
export const RECEIPT_TIMEOUT_MS = 20_000;
const TIMEOUT_MS_MAX = 60_000;

/**
 * `eth_sendRawTransactionSync`: as `eth_sendRawTransaction`, but answers with the receipt once the transaction is mined.
 *
 * @throws ReceiptTimeoutError and what submitting throws
 * @see EIP-7966
 */
export const sendRawTransactionSync = defineMethod({
  name: "eth_sendRawTransactionSync",
  params: { raw: data, timeoutMs: optional(jsonUnsigned, 0) },
  example: [SAMPLE.rawTransaction, 500],
  result: rawJsonOf(RECEIPT),
  async handle({ raw, timeoutMs }, { chain, timers }, { signal }) {
    const hash = await chain.submit({ transaction: raw });
    const wanted = timeoutMs > 0 ? Math.min(timeoutMs, TIMEOUT_MS_MAX) : RECEIPT_TIMEOUT_MS;
    return receiptText(await receiptOf(hash, wanted, { chain, timers }, signal));
  },
});

/** The receipt of `hash`, as soon as it is in a block. @throws ReceiptTimeoutError, RequestTimeoutError */
export async function receiptOf(
  hash: Hash,
  timeoutMs: number,
  { chain, timers }: Pick<ServingPorts, "chain" | "timers">,
  signal: AbortSignal,
): Promise<MinedReceipt> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = timers.after(timeoutMs, "receipt timeout", end, { keepsAlive: true });
  signal.addEventListener("abort", end);
  try {
    const mined = await nextReceipt(hash, chain, ended.signal);
    if (mined !== undefined) return mined;
    throw signal.aborted ? new RequestTimeoutError() : new ReceiptTimeoutError(hash, timeoutMs);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", end);
  }
}

/** The receipt of `hash`, as soon as it is in a block; undefined where `signal` is aborted before. */
export function nextReceipt(
  hash: Hash,
  chain: Pick<ServingPorts["chain"], "receipt" | "subscribe">,
  signal: AbortSignal,
): Promise<MinedReceipt | undefined> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      stop();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => resolve(undefined));
    const look = async (): Promise<void> => {
      try {
        const mined = await chain.receipt({ hash });
        if (mined) end(() => resolve(mined));
      } catch (error) {
        end(() => reject(error));
      }
    };
    const stop = chain.subscribe({
      onBlock({ block }) {
        if (block.transactions.some((tx) => tx.hash === hash)) void look();
      },
    });
    signal.addEventListener("abort", onAbort);
    // It may be in a block already; of a later one the event comes after the subscription.
    void look();
  });
}

/** The service's default gas limit; a transaction that needs more gets its estimate. */
export const DEFAULT_GAS = 90_000n;

/**
 * `eth_sendTransaction`: fills in missing fields, signs with an account of the node and submits; returns the hash.
 *
 * @throws UnknownAccountError, AccountLockedError, TransactionFieldsError, and what estimating and submitting throw
 */
export const sendTransaction = defineForwardedMethod({
  name: "eth_sendTransaction",
  params: { request: callArguments },
  example: [SAMPLE.call],
  result: hash,
  heavy: true,
  handle: ({ request }, modules) => sendUnlocked(request, modules),
});

export async function sendUnlocked(request: CallArguments, modules: RpcPorts): Promise<Hash> {
  const { keys, settings } = modules;
  // anvil sends from its first account where none is named.
  const from = request.from ?? (settings.isAnvil ? (await keys.accounts())[0] : undefined) ?? ZERO_ADDRESS;
  await keys.assertKnown({ address: from });
  const { execution } = modules;
  const filling = settings.isAnvil
    ? { ...modules, execution: { ...execution, estimateGas: estimateOrLimit(modules) } }
    : modules;
  return sendSigned(request, from, filling, (digest) => keys.signTransaction({ address: from, digest }));
}

const FAILED_EXECUTIONS: ReadonlySet<string> = new Set(["EXECUTION_REVERTED", "EXECUTION_HALTED"]);

/** anvil sends what reverts with the gas limit of the newest block, so that its receipt has status 0. */
function estimateOrLimit({ chain, execution }: ServingPorts): ServingPorts["execution"]["estimateGas"] {
  return async (input) => {
    try {
      return await execution.estimateGas(input);
    } catch (error) {
      if (!(error instanceof NodeError) || !FAILED_EXECUTIONS.has(error.code)) throw error;
      return (await chain.head()).header.gasLimit;
    }
  };
}

/**
 * Fills in what `request` lacks, signs and submits; the hash.
 *
 * Without a nonce, transactions of one account go one after the other, so that each sees the nonce of the one before.
 *
 * @throws TransactionFieldsError, and what `sign`, estimating and submitting throw
 */
export async function sendSigned(
  request: CallArguments,
  from: Address,
  modules: RpcPorts,
  sign: SignDigest,
): Promise<Hash> {
  if (request.blobVersionedHashes !== undefined) {
    throw new TransactionFieldsError("signing blob transactions not supported");
  }
  async function send() {
    const fields = await fillTransactionFields({ ...request, from }, modules, DEFAULT_GAS);
    return modules.chain.submit({ transaction: (await signFields(fields, sign)).raw });
  }
  return request.nonce === undefined ? modules.sessions.sendLock.run(from, send) : send();
}

/**
 * `eth_fillTransaction`: fills in every field except the signature, whose members are 0. Blobs get commitments and proofs in the format of
 * the head's fork.
 *
 * @throws TransactionFieldsError, and what estimating throws
 */
export const fillTransaction = defineMethod({
  name: "eth_fillTransaction",
  params: { request: callArguments },
  example: [SAMPLE.call],
  result: rawJsonOf(SIGNED_TRANSACTION),
  heavy: true,
  async handle({ request }, modules) {
    const { request: withHashes, sidecar } = await withBlobFields(request, modules);
    const { blobs: _blobs, ...described } = withHashes;
    const fields = await fillTransactionFields(described, modules);
    // A legacy transaction says its chain only in a signature's v (EIP-155), which it does not have yet.
    const unsigned = fields.type === 0 ? { ...fields, chainId: undefined } : fields;
    const tx = buildTransaction(unsigned, { v: 0n, r: 0n, s: 0n });
    // With a gasPrice it is a legacy transaction, which has none.
    const attached = fields.type === 3 ? sidecar : undefined;
    const raw = dataText(encodePooledTransaction(tx, attached));
    return `{"raw":${raw},"tx":${signedTransactionText(tx, attached)}}`;
  },
});

/**
 * `eth_resend`: replaces the pending transaction of the node's account that `request` describes, with a new price or gas limit; returns the
 * new hash.
 *
 * @throws TransactionFieldsError, TransactionNotFoundError, and what signing and submitting throw
 */
export const resend = defineMethod({
  name: "eth_resend",
  params: { request: callArguments, gasPrice: optional(quantity), gas: optional(quantity64) },
  example: [{ ...SAMPLE.call, nonce: "0x0" }, "0x77359400", "0x5208"],
  result: hash,
  heavy: true,
  async handle({ request, gasPrice, gas }, modules) {
    const { keys, chain } = modules;
    if (request.nonce === undefined) {
      throw new TransactionFieldsError("missing transaction nonce in transaction spec");
    }
    const from = request.from ?? ZERO_ADDRESS;
    const fields = await fillTransactionFields(request, modules);
    const described = signingHash(fields);
    const { pending } = await chain.poolContentFrom({ address: from });
    const isThere = pending.some(({ tx }) => equalBytes(signingHash(tx), described));
    if (!isThere) {
      throw new TransactionNotFoundError(buildTransaction(fields, { v: 0n, r: 0n, s: 0n }).hash);
    }
    const priced =
      gasPrice === undefined || gasPrice === 0n
        ? fields
        : "gasPrice" in fields
          ? { ...fields, gasPrice }
          : { ...fields, maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice };
    const replacement = gas === undefined || gas === 0n ? priced : { ...priced, gasLimit: gas };
    const tx = await signFields(replacement, (digest) => keys.signTransaction({ address: from, digest }));
    return chain.submit({ transaction: tx.raw });
  },
});
