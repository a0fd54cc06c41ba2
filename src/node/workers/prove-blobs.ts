import { computeCellProofs } from "../../crypto/kzg/cell-proofs.ts";
import { blobCommitment, blobProof } from "../../crypto/kzg/commit.ts";
import { serveTasks } from "./serve-tasks.ts";

export type ProveInput = {
  readonly blobs: readonly Uint8Array[];
  /** 0: one proof a blob (EIP-4844), 1: 128 cell proofs a blob (EIP-7594) */
  readonly wrapperVersion: 0 | 1;
};
export type ProveResult = {
  readonly commitments: readonly Uint8Array[];
  readonly proofs: readonly Uint8Array[];
};

serveTasks(proveBlobs);

/** @throws for bytes that are not a blob */
export async function proveBlobs({ blobs, wrapperVersion }: ProveInput): Promise<ProveResult> {
  const commitments: Uint8Array[] = [];
  const proofs: Uint8Array[] = [];
  for (const [i, blob] of blobs.entries()) {
    try {
      const commitment = blobCommitment(blob);
      commitments.push(commitment);
      if (wrapperVersion === 1) proofs.push(...(await computeCellProofs(blob)));
      else proofs.push(blobProof(blob, commitment));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`blobs[${i}]: error computing commitment: ${reason}`, { cause });
    }
  }
  return { commitments, proofs };
}
