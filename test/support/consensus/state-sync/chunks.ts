import { deflateRawSync } from "node:zlib";
import { concatBytes } from "../../../../src/base/primitives/bytes.ts";
import { packProof, unpackBlock, unpackPart } from "../../../../src/consensus/state-sync/snapshot-format.ts";
import { ByteWriter } from "../../../../src/store/storage/byte-io.ts";

/** What the chunks of a snapshot have before compression: the block, then the parts of its state, each with the proof of the same number. */
export type Contents = {
  readonly contents: readonly Uint8Array[];
  readonly proofs: readonly (readonly Uint8Array[])[];
};

export function unpackChunks([block, ...parts]: readonly Uint8Array[]): Contents {
  const unpacked = parts.map(unpackPart);
  return {
    contents: [unpackBlock(block!), ...unpacked.map(({ part }) => part)].map((content) => Uint8Array.from(content)),
    proofs: [[], ...unpacked.map(({ proof }) => proof)],
  };
}

/** The chunk of this number. */
export function packChunk(content: Uint8Array, index: number, proof: readonly Uint8Array[] = []): Uint8Array {
  const packed = deflateRawSync(content, { level: 1 });
  if (index === 0) return packed;
  const length = new ByteWriter();
  length.u32(packed.length);
  return concatBytes(length.finish(), packed, packProof(proof));
}

/** Chunks with these contents, each with the proof of the same number. */
export function packChunks(contents: readonly Uint8Array[], proofs: Contents["proofs"]): readonly Uint8Array[] {
  return contents.map((content, index) => packChunk(content, index, proofs[index]));
}
