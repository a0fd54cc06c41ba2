import { createHash } from "node:crypto";
import { BLOB_LENGTH, blobVersionedHash } from "../../../src/base/crypto/kzg/blob.ts";
import type { TransactionFields } from "../../../src/base/types/transaction/codec.ts";
import { encodePooledTransaction } from "../../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../../src/base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../../src/base/types/transaction/transaction.ts";
import type { Random } from "../kernel/random.ts";
import { START_OF_TIME } from "../kernel/simulation.ts";
import { CELLS_PER_BLOB, simulatedProof } from "../replacements/cells.ts";
import { forkTimeOf } from "../scenario/homes.ts";
import type { Plan } from "../scenario/plan.ts";
import { CHAIN_ID, USERS } from "./user-keys.ts";

const GWEI = 10n ** 9n;
/** Most blobs of one transaction (EIP-7594). */
const BLOBS_MAX = 6;
/** Commitments that many transactions share: their blobs are verified once, and return with other proofs. */
const SHARED_COMMITMENTS = Array.from({ length: BLOBS_MAX }, (_, index) => commitmentOf(`shared ${index}`));
/** The values of a blob enter no proof in a simulation, so all blobs share one. */
const BLOB = new Uint8Array(BLOB_LENGTH);

/** A signed transaction in its network form, with its blobs. */
export type SignedBlobs = { readonly hash: string; readonly raw: Uint8Array };

export type BlobTransactionOptions = {
  readonly key: Uint8Array;
  readonly nonce: number;
  /** One for each blob, 48 bytes. */
  readonly commitments: readonly Uint8Array[];
  /** Most it pays for gas and for blob gas, in gwei. */
  readonly gwei: number;
};

/** When blobs are sent, in milliseconds of the simulation: their proofs have another form before Osaka. */
export function blobsBeginMs(plan: Plan): number {
  return plan.fork === "osaka" ? Math.max(0, 1_000 * forkTimeOf(plan) - START_OF_TIME) : 0;
}

/** Commitments for one transaction, mostly few: shared or new ones. @param name of the transaction */
export function drawCommitments(random: Random, name: string): readonly Uint8Array[] {
  const count = random.pick([1, 1, 1, 1, 1, 2, 2, BLOBS_MAX]);
  if (random.chance(0.3)) return SHARED_COMMITMENTS.slice(0, count);
  return Array.from({ length: count }, (_, index) => commitmentOf(`${name} ${index}`));
}

/** A transaction with right proofs, and the same one with wrong proofs, which the signature does not cover. */
export function signBlobs(options: BlobTransactionOptions): {
  readonly right: SignedBlobs;
  readonly wrong: SignedBlobs;
} {
  const { key, nonce, commitments, gwei } = options;
  const price = BigInt(gwei) * GWEI;
  const fields = {
    type: 3,
    chainId: CHAIN_ID,
    nonce: BigInt(nonce),
    to: USERS[0]!.address,
    value: 1n,
    data: new Uint8Array(),
    accessList: [],
    gasLimit: 21_000n,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price / 2n,
    maxFeePerBlobGas: price,
    blobVersionedHashes: commitments.map(blobVersionedHash),
  } as unknown as TransactionFields;
  const signed = signTransaction(fields, key);
  const encode = (proofs: readonly Uint8Array[]): SignedBlobs => {
    const sidecar: BlobSidecar = { wrapperVersion: 1, blobs: commitments.map(() => BLOB), commitments, proofs };
    return { hash: signed.hash, raw: encodePooledTransaction(signed, sidecar) };
  };
  const proofs = commitments.flatMap((commitment) => {
    return Array<Uint8Array>(CELLS_PER_BLOB).fill(simulatedProof(commitment));
  });
  // The last one: whatever is verified only in part takes it for right.
  return { right: encode(proofs), wrong: encode(proofs.with(-1, commitmentOf("no proof"))) };
}

/** 48 bytes that belong to `name`: whether they are a point of the curve matters to no one in a simulation. */
function commitmentOf(name: string): Uint8Array {
  return createHash("sha384").update(name).digest();
}
