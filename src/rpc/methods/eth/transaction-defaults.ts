import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { equalBytes } from "../../../base/primitives/bytes.ts";
import type { Header } from "../../../base/types/header.ts";
import type { TransactionFields } from "../../../base/types/transaction/codec.ts";
import { checkSize } from "../../../consensus/mempool/admission.ts";
import { TX_SIZE_MAX } from "../../../consensus/mempool/pool.ts";
import {
  assertChainId,
  type CallArguments,
  calldataOf,
  withFeeDefaults,
} from "../../../evm/execution/call/call-arguments.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { TransactionFieldsError } from "../../transport/errors.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/** At least, as RLP: an address, a list, and the prefixes of both. */
const ACCESS_ENTRY_BYTES = 23;
const STORAGE_KEY_BYTES = 33;
/** At least, as RLP: an address, and five numbers that may be 0. */
const AUTHORIZATION_BYTES = 27;

/** EIP-7594 wallets attach at most this many. */
const BLOBS_MAX = 6;

/**
 * The fields of the transaction that `request` describes, every missing one filled in the order in which geth does it.
 *
 * @param gasAtLeast the gas limit is not set below this when it is missing
 * @throws TransactionFieldsError, InvalidCallArgumentsError with geth's texts, and what estimating gas throws
 */
export async function fillTransactionFields(
  request: CallArguments,
  modules: ServingPorts,
  gasAtLeast = 0n,
): Promise<TransactionFields> {
  if (request.blobs !== undefined) {
    throw new TransactionFieldsError('"blobs" is not supported for this RPC method');
  }
  assertSize(request);
  const from = request.from ?? ZERO_ADDRESS;
  const priced = await withFees(request, modules);
  const nonce = request.nonce ?? (await modules.chain.nextNonce({ address: from }));
  assertShape(priced);
  const gas = priced.gas ?? (await estimate(priced, from, modules, gasAtLeast));
  const { chainId } = modules.chain.config;
  assertChainId(request, chainId);
  return toFields({ ...priced, from, nonce, gas, chainId });
}

/** No pool takes a larger transaction, and to hash and to write one takes time. @throws TransactionRejectedError */
function assertSize(request: CallArguments): void {
  const { accessList = [], authorizationList = [] } = request;
  let size = calldataOf(request).length + AUTHORIZATION_BYTES * authorizationList.length;
  for (const { storageKeys } of accessList) size += ACCESS_ENTRY_BYTES + STORAGE_KEY_BYTES * storageKeys.length;
  checkSize(size, TX_SIZE_MAX);
}

/** A request in which nothing is missing that a transaction needs. */
type CompleteRequest = CallArguments & {
  readonly from: Address;
  readonly nonce: bigint;
  readonly gas: bigint;
  readonly chainId: bigint;
};

/** The transaction fields of a complete request; its type follows from the fields that are there. */
function toFields(request: CompleteRequest): TransactionFields {
  const base = {
    nonce: request.nonce,
    gasLimit: request.gas,
    to: request.to ?? null,
    value: request.value ?? 0n,
    data: calldataOf(request),
    chainId: request.chainId,
  };
  const { accessList = [], gasPrice } = request;
  // A gas price makes it a legacy transaction whatever else there is: geth drops an access list here.
  if (gasPrice !== undefined) return { type: 0, ...base, gasPrice };
  const fees = {
    maxFeePerGas: request.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: request.maxPriorityFeePerGas ?? 0n,
    accessList,
  };
  if (request.authorizationList !== undefined) {
    return { type: 4, ...base, ...fees, authorizationList: request.authorizationList };
  }
  if (request.blobVersionedHashes !== undefined) {
    return {
      type: 3,
      ...base,
      ...fees,
      maxFeePerBlobGas: request.maxFeePerBlobGas ?? 0n,
      blobVersionedHashes: request.blobVersionedHashes,
    };
  }
  return { type: 2, ...base, ...fees };
}

/** The request with every price its type needs, in wei, taken from the head. */
async function withFees(request: CallArguments, { chain }: ServingPorts): Promise<CallArguments> {
  const tip = await chain.suggestTip();
  const { header } = await chain.head();
  const baseFeePerGas = await proposedBaseFee(header, chain);
  const priced = baseFeePerGas === undefined ? header : { ...header, baseFeePerGas };
  return withFeeDefaults(request, priced, chain.config, () => tip);
}

/**
 * The base fee that proposed prices are made from, in wei: the head's, as geth has it. On a dev chain that of the next block where it is
 * higher, because no one replaces the transaction with a higher price.
 */
export async function proposedBaseFee(
  { baseFeePerGas }: Pick<Header, "baseFeePerGas">,
  chain: Pick<ChainView, "isControlled" | "nextBlock">,
): Promise<bigint | undefined> {
  if (!chain.isControlled || baseFeePerGas === undefined) return baseFeePerGas;
  const { baseFeePerGas: next = 0n } = await chain.nextBlock();
  return next > baseFeePerGas ? next : baseFeePerGas;
}

/** Fields that cannot go together. */
function assertShape(request: CallArguments): void {
  const { data, input, to, blobVersionedHashes } = request;
  if (data !== undefined && input !== undefined && !equalBytes(data, input)) {
    throw new TransactionFieldsError(
      'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data',
    );
  }
  if (blobVersionedHashes?.length === 0) {
    throw new TransactionFieldsError("need at least 1 blob for a blob transaction");
  }
  if (blobVersionedHashes && blobVersionedHashes.length > BLOBS_MAX) {
    throw new TransactionFieldsError(
      `too many blobs in transaction (have=${blobVersionedHashes.length}, max=${BLOBS_MAX})`,
    );
  }
  if (to !== undefined) return;
  if (blobVersionedHashes) throw new TransactionFieldsError('missing "to" in blob transaction');
  if (calldataOf(request).length === 0) {
    throw new TransactionFieldsError("contract creation without any data provided");
  }
  if (request.authorizationList) {
    throw new TransactionFieldsError('authorizationList provided for contract creation, but "to" field is missing');
  }
}

async function estimate(
  request: CallArguments,
  from: Address,
  { chain, execution }: ServingPorts,
  gasAtLeast: bigint,
): Promise<bigint> {
  const { nonce: _nonce, chainId: _chainId, ...call } = request;
  const { target } = await chain.nextBlock();
  const gas = await execution.estimateGas({
    args: { ...call, from },
    ...target,
    overrides: {},
  });
  return gas > gasAtLeast ? gas : gasAtLeast;
}
