import { serveThread } from "../../threads/serve-thread.ts";
import { computeCellProofs } from "./cell-proofs.ts";
import { blobCommitment, blobProof } from "./commit.ts";

type ProveInput = {
  readonly blobs: readonly Uint8Array[];
  /** 0: one proof per blob (EIP-4844), 1: 128 cell proofs per blob (EIP-7594) */
  readonly wrapperVersion: 0 | 1;
};
type ProveResult = {
  readonly commitments: readonly Uint8Array[];
  readonly proofs: readonly Uint8Array[];
};

export const proving = { prove };
serveThread(proving);

/** @throws for bytes that are not a blob */
async function prove({ blobs, wrapperVersion }: ProveInput): Promise<ProveResult> {
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
