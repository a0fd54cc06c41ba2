import type { Hash } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { sha256 } from "../hashes.ts";
import { blobVersionedHash } from "./blob.ts";
import { CELLS_PER_BLOB } from "./cells.ts";
import { KZG_FAULT_TEXTS } from "./opening.ts";
import { type Sidecar, sidecarFault } from "./sidecar.ts";

/** A few hours of blobs at six per block; an entry takes about 300 bytes. */
const BLOBS_MAX = 4_096;

/**
 * Verifies sidecars, each blob once. A commitment binds its blob, and the proofs follow from both. So different bytes under the versioned hash
 * of a verified blob are rejected without arithmetic.
 */
export class VerifiedBlobs {
  readonly #blobsMax: number;
  /** Digest of blob and proofs, by form of the proofs and versioned hash; the oldest is first. */
  readonly #digests = new Map<string, string>();
  /** Number of blobs whose proofs were verified by computation. */
  verifications = 0;

  constructor(blobsMax = BLOBS_MAX) {
    this.#blobsMax = blobsMax;
  }

  /** The fault in the parts of `sidecar`, as a text; undefined if they are consistent. */
  faultOf(sidecar: Sidecar): string | undefined {
    const { wrapperVersion } = sidecar;
    const hashes = sidecar.commitments.map(blobVersionedHash);
    const unknown: number[] = [];
    for (const [i, hash] of hashes.entries()) {
      const digest = this.#digests.get(keyOf(wrapperVersion, hash));
      if (digest === undefined) unknown.push(i);
      else if (digest !== digestOf(sidecar, i)) return KZG_FAULT_TEXTS.proof;
    }
    // The complete sidecar shows which lengths are wrong.
    const isWhole = unknown.length === hashes.length;
    const part = isWhole ? sidecar : partOf(sidecar, unknown);
    this.verifications += unknown.length;
    const fault = sidecarFault(isWhole ? hashes : unknown.map((i) => hashes[i]!), part);
    if (fault) return fault.kind === "kzg" ? KZG_FAULT_TEXTS[fault.fault] : `wrong ${fault.kind}`;
    for (const i of unknown) this.#add(keyOf(wrapperVersion, hashes[i]!), digestOf(sidecar, i));
    return undefined;
  }

  #add(key: string, digest: string): void {
    this.#digests.set(key, digest);
    for (const oldest of this.#digests.keys()) {
      if (this.#digests.size <= this.#blobsMax) return;
      this.#digests.delete(oldest);
    }
  }
}

function keyOf(wrapperVersion: 0 | 1, hash: Hash): string {
  return `${wrapperVersion}${hash}`;
}

function proofsOf({ wrapperVersion, proofs }: Sidecar, i: number): readonly Uint8Array[] {
  const count = wrapperVersion === 0 ? 1 : CELLS_PER_BLOB;
  return proofs.slice(i * count, (i + 1) * count);
}

function digestOf(sidecar: Sidecar, i: number): string {
  const parts = [sidecar.blobs[i] ?? new Uint8Array(), ...proofsOf(sidecar, i)];
  return bytesToHex(sha256(Buffer.concat(parts)));
}

function partOf(sidecar: Sidecar, indexes: readonly number[]): Sidecar {
  const pick = (list: readonly Uint8Array[]) => indexes.map((i) => list[i] ?? new Uint8Array());
  return {
    wrapperVersion: sidecar.wrapperVersion,
    blobs: pick(sidecar.blobs),
    commitments: pick(sidecar.commitments),
    proofs: indexes.flatMap((i) => proofsOf(sidecar, i)),
  };
}
