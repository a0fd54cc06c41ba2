import type { Address } from "../../../base/primitives/address.ts";
import { effectiveGasPrice, maxFeePerGasOf } from "../../../base/types/transaction/fees.ts";
import type {
  AccessList,
  Authorization,
  BlobSidecar,
  Transaction,
} from "../../../base/types/transaction/transaction.ts";
import type { MinedTransaction, TransactionPosition } from "../../ports/chain-view.ts";
import { dataText, plainListText, plainText, quantityText } from "./write.ts";

/** JSON text of a transaction of the chain; null if none. */
export function minedTransactionText(mined: MinedTransaction | undefined): string {
  return mined ? transactionText(mined.tx, mined.sender, mined.position) : "null";
}

/** JSON text of a transaction. Not mined yet (no `position`): the four members of the position are null, `gasPrice` is the most it pays per gas. */
export function transactionText(tx: Transaction, from: Address, position?: TransactionPosition): string {
  const gasPrice = position ? effectiveGasPrice(tx, position.baseFeePerGas ?? 0n) : maxFeePerGasOf(tx);
  let text =
    `{"blockHash":${plainText(position?.blockHash ?? null)}` +
    `,"blockNumber":${position ? quantityText(position.blockNumber) : "null"}` +
    `,"blockTimestamp":${position ? quantityText(position.blockTimestamp) : "null"}` +
    `,"from":"${from}","gas":${quantityText(tx.gasLimit)},"gasPrice":${quantityText(gasPrice)}`;
  if (tx.type >= 2) text += feeMembers(tx);
  text +=
    `,"hash":"${tx.hash}","input":${dataText(tx.data)},"nonce":${quantityText(tx.nonce)}` +
    `,"to":${plainText(tx.to)},"transactionIndex":${position ? quantityText(position.index) : "null"}` +
    `,"value":${quantityText(tx.value)},"type":${quantityText(tx.type)}`;
  return `${text}${typedMembers(tx)}${signatureMembers(tx)}}`;
}

/**
 * JSON text of a transaction outside a block, as in `eth_signTransaction` and `eth_fillTransaction`: fee members of other types are null;
 * position and sender are omitted.
 */
export function signedTransactionText(tx: Transaction, sidecar?: BlobSidecar): string {
  const legacyPrice = tx.type === 0 || tx.type === 1 ? quantityText(tx.gasPrice) : "null";
  const fees = tx.type >= 2 ? feeMembers(tx) : ',"maxPriorityFeePerGas":null,"maxFeePerGas":null';
  return (
    `{"type":${quantityText(tx.type)},"nonce":${quantityText(tx.nonce)},"to":${plainText(tx.to)}` +
    `,"gas":${quantityText(tx.gasLimit)},"gasPrice":${legacyPrice}${fees}` +
    `,"value":${quantityText(tx.value)},"input":${dataText(tx.data)}` +
    `${typedMembers(tx)}${sidecar ? sidecarMembers(sidecar) : ""}${signatureMembers(tx)}` +
    `,"hash":"${tx.hash}"}`
  );
}

function sidecarMembers({ blobs, commitments, proofs }: BlobSidecar): string {
  const list = (items: readonly Uint8Array[]) => `[${items.map(dataText).join(",")}]`;
  return `,"blobs":${list(blobs)},"commitments":${list(commitments)},"proofs":${list(proofs)}`;
}

/** JSON text of an access list (EIP-2930). */
export function accessListText(accessList: AccessList): string {
  const entries = accessList.map(
    ({ address, storageKeys }) => `{"address":"${address}","storageKeys":${plainListText(storageKeys)}}`,
  );
  return `[${entries.join(",")}]`;
}

/** The price members of types 2 and later. */
function feeMembers(tx: Transaction): string {
  if (tx.type === 0 || tx.type === 1) return "";
  return (
    `,"maxPriorityFeePerGas":${quantityText(tx.maxPriorityFeePerGas)}` +
    `,"maxFeePerGas":${quantityText(tx.maxFeePerGas)}`
  );
}

function typedMembers(tx: Transaction): string {
  if (tx.type === 0) return tx.chainId === undefined ? "" : `,"chainId":${quantityText(tx.chainId)}`;
  let text = `,"accessList":${accessListText(tx.accessList)},"chainId":${quantityText(tx.chainId)}`;
  if (tx.type === 3) {
    text +=
      `,"maxFeePerBlobGas":${quantityText(tx.maxFeePerBlobGas)}` +
      `,"blobVersionedHashes":${plainListText(tx.blobVersionedHashes)}`;
  }
  if (tx.type === 4 && tx.authorizationList.length > 0) {
    text += `,"authorizationList":[${tx.authorizationList.map(authorizationText).join(",")}]`;
  }
  return text;
}

function signatureMembers(tx: Transaction): string {
  const text = `,"v":${quantityText(tx.v)},"r":${quantityText(tx.r)},"s":${quantityText(tx.s)}`;
  return tx.type === 0 ? text : `${text},"yParity":${quantityText(tx.v)}`;
}

function authorizationText(authorization: Authorization): string {
  const { chainId, address, nonce, yParity, r, s } = authorization;
  return (
    `{"chainId":${quantityText(chainId)},"address":"${address}","nonce":${quantityText(nonce)}` +
    `,"yParity":${quantityText(yParity)},"r":${quantityText(r)},"s":${quantityText(s)}}`
  );
}
