import { checksumAddress } from "../../../base/primitives/address.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { encodeHeader } from "../../../base/types/header-codec.ts";
import { array, data, lenientInteger, type ResultCodec, string } from "../../transport/codec.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { NoCheckpointOracleError } from "./clients.ts";

/** Three hashes, and before them perhaps the section as a QUANTITY. */
const checkpointResult: ResultCodec<readonly string[]> = array(string);

/**
 * `les_latestCheckpoint`: `[section, sectionHead, chtRoot, bloomRoot]` of the newest checkpoint. With it a light client verifies every older
 * header and bloom.
 *
 * @throws NoCheckpointError
 */
export const latestCheckpoint = defineMethod({
  name: "les_latestCheckpoint",
  params: {},
  result: checkpointResult,
  handle: (_params, { les }) =>
    andThen(les.latestCheckpoint(), ({ sectionIndex, sectionHead, chtRoot, bloomRoot }) => [
      `0x${sectionIndex.toString(16)}`,
      sectionHead,
      chtRoot,
      bloomRoot,
    ]),
});

/** `les_getCheckpoint`: `[sectionHead, chtRoot, bloomRoot]` of section `index`. @throws NoCheckpointError */
export const getCheckpoint = defineMethod({
  name: "les_getCheckpoint",
  params: { index: lenientInteger },
  example: [256],
  result: checkpointResult,
  handle: ({ index }, { les }) =>
    andThen(les.checkpoint({ index }), ({ sectionHead, chtRoot, bloomRoot }) => [sectionHead, chtRoot, bloomRoot]),
});

/** `les_getCheckpointContractAddress`: the checkpoint oracle. @throws NoCheckpointOracleError */
export const getCheckpointContractAddress = defineMethod({
  name: "les_getCheckpointContractAddress",
  params: {},
  result: string,
  handle: (_params, { les }) =>
    andThen(les.checkpointOracle(), (address) => {
      if (address === undefined) throw new NoCheckpointOracleError();
      return checksumAddress(address);
    }),
});

const proofResult: ResultCodec<{
  readonly header: Uint8Array;
  readonly proof: readonly Uint8Array[];
}> = {
  schema: {
    title: "header and proof",
    type: "object",
    properties: { header: data.schema, proof: { type: "array", items: data.schema } },
  },
  encode: ({ header, proof }) => `{"header":${data.encode(header)},"proof":${array(data).encode(proof)}}`,
};

/**
 * `les_getHeaderProof`: RLP of the header of block `number`, and the nodes of the canonical hash trie that prove its hash to a client that
 * trusts the `chtRoot` of section `index`. LES clients requested the same data with GetHelperTrieProofs.
 *
 * @throws NoCheckpointError, UnknownBlockError
 */
export const getHeaderProof = defineMethod({
  name: "les_getHeaderProof",
  params: { number: lenientInteger, index: lenientInteger },
  example: [1000, 0],
  result: proofResult,
  handle({ number, index }, { les, chain }) {
    return andThen(les.proveHash({ index, number }), (proof) =>
      andThen(chain.header({ at: number }), (found) => {
        if (found === undefined) throw new UnknownBlockError("header not found");
        return { header: encodeHeader(found.header), proof };
      }),
    );
  },
});
