import { randomBytes } from "node:crypto";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { address, array, boolean, data, json, object, optional, quantity, string } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { CALL_BUNDLE_LIMITS, type CallBundle } from "../call-bundles.ts";
import { defineForwardedMethod } from "../define-method.ts";
import { nextReceipt, sendSigned } from "../eth/submit.ts";
import { SAMPLE } from "../example-values.ts";
import { receiptText } from "../json/receipt-json.ts";
import { BOOLEAN, HASH, INTEGER, LOG, listOf, NULL, QUANTITY, shape } from "../json/schemas.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import {
  AtomicityUnsupportedError,
  CallBundleTooLargeError,
  UnknownWalletChainError,
  UnsupportedCallsChainError,
  UnsupportedCapabilityError,
} from "./wallet-errors.ts";

/** `eth_requestAccounts`: the accounts that the node signs for, as `eth_accounts`. @see EIP-1102 */
export const requestAccounts = defineForwardedMethod({
  name: "eth_requestAccounts",
  params: {},
  example: [],
  result: array(address),
  private: true,
  handle: (_params, { keys }) => keys.accounts(),
});

const walletChain = object("WalletChain", { chainId: quantity });

/**
 * `wallet_switchEthereumChain`: null if `chain` is the node's own chain.
 *
 * @throws UnknownWalletChainError for another one
 * @see EIP-3326
 */
export const switchEthereumChain = chainMethod("wallet_switchEthereumChain");

/**
 * `wallet_addEthereumChain`: null if `chain` is the node's own chain.
 *
 * @throws UnknownWalletChainError for another one
 * @see EIP-3085
 */
export const addEthereumChain = chainMethod("wallet_addEthereumChain");

function chainMethod(name: string) {
  return defineForwardedMethod({
    name,
    params: { chain: walletChain },
    example: [{ chainId: "0x7a69" }],
    result: { ...json, schema: NULL },
    private: true,
    handle({ chain: { chainId } }, { chain }) {
      if (chainId === undefined) throw new InvalidParamsError("missing chainId", "chain");
      const own = chain.config.chainId;
      if (chainId !== own) throw new UnknownWalletChainError(chainId, own);
      return null;
    },
  });
}

/**
 * `wallet_getCapabilities`: capabilities by chain: each call of a bundle is its own transaction. Empty if `chainIds` does not include this
 * chain.
 *
 * @throws UnknownAccountError
 * @see EIP-5792
 */
export const getCapabilities = defineForwardedMethod({
  name: "wallet_getCapabilities",
  params: { account: address, chainIds: optional(array(quantity)) },
  example: [SAMPLE.alice],
  result: {
    ...json,
    schema: { title: "WalletCapabilities", type: "object", additionalProperties: { type: "object" } },
  },
  private: true,
  async handle({ account, chainIds }, { chain, keys }) {
    await keys.assertKnown({ address: account });
    const { chainId } = chain.config;
    if (chainIds !== undefined && !chainIds.includes(chainId)) return {};
    return { [toQuantity(chainId)]: { atomic: { status: "unsupported" } } };
  },
});

const bundledCall = object("BundledCall", { to: address, data, value: quantity, capabilities: json });

const callBundle = object("CallBundle", {
  version: string,
  id: string,
  from: address,
  chainId: quantity,
  atomicRequired: boolean,
  calls: array(bundledCall),
  capabilities: json,
});

/**
 * `wallet_sendCalls`: sends each call as its own transaction, after the previous one is in a block. Returns the bundle id once the first is
 * in the pool. A call that reverts or cannot be sent ends the bundle.
 *
 * @throws UnsupportedCallsChainError, UnsupportedCapabilityError, AtomicityUnsupportedError, CallBundleTooLargeError, DuplicateBundleError, and
 *   what `eth_sendTransaction` throws for the first call
 * @see EIP-5792
 */
export const sendCalls = defineForwardedMethod({
  name: "wallet_sendCalls",
  params: { bundle: callBundle },
  example: [
    {
      version: "2.0.0",
      from: SAMPLE.alice,
      chainId: "0x7a69",
      atomicRequired: false,
      calls: [{ to: SAMPLE.bob, value: "0x1" }],
    },
  ],
  result: { ...json, schema: shape("SentCalls", { id: { type: "string" } }) },
  private: true,
  heavy: true,
  async handle({ bundle: request }, modules) {
    const { id = bytesToHex(randomBytes(32)), chainId, calls = [], atomicRequired = false } = request;
    const own = modules.chain.config.chainId;
    if (chainId !== undefined && chainId !== own) throw new UnsupportedCallsChainError(chainId, own);
    if (calls.length === 0) throw new InvalidParamsError("a bundle has at least one call", "bundle");
    if (id.length > CALL_BUNDLE_LIMITS.idLengthMax) throw new InvalidParamsError("the id is too long", "bundle");
    if (calls.length > CALL_BUNDLE_LIMITS.callsMax) {
      throw new CallBundleTooLargeError(calls.length, CALL_BUNDLE_LIMITS.callsMax);
    }
    for (const { capabilities } of [request, ...calls]) assertCapabilities(capabilities);
    if (atomicRequired && calls.length > 1) throw new AtomicityUnsupportedError();
    const from = request.from ?? (await modules.keys.accounts())[0];
    if (from === undefined) throw new InvalidParamsError("missing from", "bundle");
    await modules.keys.assertKnown({ address: from });
    const bundle = modules.sessions.callBundles.add(id);
    const [first, ...rest] = calls.map(({ to, data, value }) => callOf(from, to, data, value));
    try {
      bundle.hashes.push(await send(first!, from, modules));
    } catch (error) {
      modules.sessions.callBundles.remove(bundle);
      throw error;
    }
    void sendRest(bundle, rest, from, modules);
    return { id };
  },
});

function callOf(
  from: Address,
  to: Address | undefined,
  input: Uint8Array | undefined,
  value: bigint | undefined,
): CallArguments {
  return { from, ...(to && { to }), ...(input && { input }), ...(value !== undefined && { value }) };
}

/** @throws UnsupportedCapabilityError */
function assertCapabilities(capabilities: unknown): void {
  if (capabilities === undefined) return;
  if (typeof capabilities !== "object" || capabilities === null)
    throw new InvalidParamsError("capabilities is not an object");
  for (const [name, capability] of Object.entries(capabilities)) {
    if ((capability as { optional?: unknown } | null)?.optional !== true) throw new UnsupportedCapabilityError(name);
  }
}

function send(call: CallArguments, from: Address, modules: RpcPorts) {
  return sendSigned(call, from, modules, (digest) => modules.keys.signTransaction({ address: from, digest }));
}

/** Rejects never: what goes wrong is the bundle's fault. */
async function sendRest(bundle: CallBundle, calls: readonly CallArguments[], from: Address, modules: RpcPorts) {
  try {
    for (const call of calls) {
      if (!(await succeeds(bundle, modules.chain))) break;
      bundle.hashes.push(await send(call, from, modules));
    }
  } catch (error) {
    bundle.fault = error;
  }
  bundle.isComplete = true;
}

/** Whether the newest transaction of the bundle has succeeded, as soon as it is in a block; false where the bundle was forgotten. */
async function succeeds(
  { hashes, forgotten: { signal } }: CallBundle,
  chain: Pick<ChainView, "receipt" | "subscribe">,
): Promise<boolean> {
  const mined = await nextReceipt(hashes.at(-1)!, chain, signal);
  return mined !== undefined && mined.receipt.status !== 0;
}

/** EIP-5792's status codes. */
const STATUS = { pending: 100, confirmed: 200, reverted: 500, partlyReverted: 600 } as const;

/**
 * `wallet_getCallsStatus`: status and receipts of a bundle's calls. `status`: 100 some are not in blocks yet, 200 all succeeded, 500 the
 * first reverted, 600 a later one reverted or could not be sent.
 *
 * @throws UnknownBundleError
 * @see EIP-5792
 */
export const getCallsStatus = defineForwardedMethod({
  name: "wallet_getCallsStatus",
  params: { id: string },
  result: {
    ...json,
    schema: shape(
      "CallsStatus",
      { version: { type: "string" }, chainId: QUANTITY, id: { type: "string" }, status: INTEGER, atomic: BOOLEAN },
      {
        receipts: listOf(
          shape("CallReceipt", {
            logs: listOf(LOG),
            status: QUANTITY,
            blockHash: HASH,
            blockNumber: QUANTITY,
            gasUsed: QUANTITY,
            transactionHash: HASH,
          }),
        ),
      },
    ),
  },
  private: true,
  async handle({ id }, { chain, sessions }) {
    const bundle = sessions.callBundles.get(id);
    const mined = await Promise.all(bundle.hashes.map((hash) => chain.receipt({ hash })));
    const receipts = mined.flatMap((receipt) => receipt ?? []);
    return {
      version: "2.0.0",
      chainId: toQuantity(chain.config.chainId),
      id,
      status: statusOf(
        bundle,
        receipts.map(({ receipt }) => receipt.status !== 0),
      ),
      // A single call takes effect as a whole or not at all.
      atomic: bundle.isComplete && bundle.fault === undefined && bundle.hashes.length === 1,
      ...(receipts.length > 0 && { receipts: receipts.map((receipt) => callReceipt(receiptText(receipt))) }),
    };
  },
});

function statusOf({ hashes, isComplete, fault }: CallBundle, succeeded: readonly boolean[]): number {
  if (!isComplete || succeeded.length < hashes.length) return STATUS.pending;
  if (fault === undefined && succeeded.every(Boolean)) return STATUS.confirmed;
  return succeeded.some(Boolean) ? STATUS.partlyReverted : STATUS.reverted;
}

/** What EIP-5792 has of a receipt. */
function callReceipt(text: string) {
  const { logs, status, blockHash, blockNumber, gasUsed, transactionHash } = JSON.parse(text);
  return { logs, status, blockHash, blockNumber, gasUsed, transactionHash };
}
