import { hash } from "node:crypto";
import { timestamp } from "../../../../src/consensus/cometbft/abci/messages.ts";
import {
  decodeMessage,
  encodeMessage,
  message,
  repeated,
  single,
} from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import { blockId, dataHash, engineHeaderHash, merkleRoot } from "../../../../src/consensus/cometbft/rpc/block.ts";
import {
  type DuplicateVotes,
  encodeEvidence,
  evidenceListForm,
  fromEvidenceFields,
  toEvidenceFields,
} from "./evidence.ts";
import {
  type BlockId,
  bytesOf,
  type Commit,
  commitForm,
  commitSignatureForm,
  digitsOf,
  fromBlockIdFields,
  fromCommitFields,
  fromTimestamp,
  toBlockIdFields,
  toCommitFields,
  toCommitSignatureFields,
  toTimestamp,
} from "./vote.ts";

export type Header = {
  readonly chainId: string;
  readonly height: number;
  readonly time: bigint;
  readonly lastBlockId: BlockId | undefined;
  readonly lastCommitHash: string;
  readonly dataHash: string;
  readonly validatorsHash: string;
  readonly nextValidatorsHash: string;
  readonly consensusHash: string;
  readonly appHash: string;
  readonly lastResultsHash: string;
  readonly evidenceHash: string;
  readonly proposer: string;
  readonly appVersion: number;
};

/** Of CometBFT v0.40: the version of its block format. */
export const BLOCK_PROTOCOL = 11;

/** Bytes of a part in which CometBFT sends blocks. */
const PART_BYTES = 65_536;

const headerForm = message({
  version: single(1, message({ block: single(1, "uint64"), app: single(2, "uint64") })),
  chainId: single(2, "string"),
  height: single(3, "int64"),
  time: single(4, timestamp),
  lastBlockId: single(5, blockId),
  lastCommitHash: single(6, "bytes"),
  dataHash: single(7, "bytes"),
  validatorsHash: single(8, "bytes"),
  nextValidatorsHash: single(9, "bytes"),
  consensusHash: single(10, "bytes"),
  appHash: single(11, "bytes"),
  lastResultsHash: single(12, "bytes"),
  evidenceHash: single(13, "bytes"),
  proposerAddress: single(14, "bytes"),
});
const blockForm = message({
  header: single(1, headerForm),
  data: single(2, message({ txs: repeated(1, "bytes") })),
  evidence: single(3, evidenceListForm),
  lastCommit: single(4, commitForm),
});

type BlockParts = {
  readonly txs: readonly Uint8Array[];
  readonly evidence: readonly DuplicateVotes[];
  readonly lastCommit: Commit;
};

/** A block. Its hash and its bytes are computed once, by whichever node needs them first: nodes of a simulation share the object. */
export class Block implements BlockParts {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  readonly evidence: readonly DuplicateVotes[];
  readonly lastCommit: Commit;
  #id: BlockId | undefined;
  #bytes: Uint8Array | undefined;
  #isConsistent: boolean | undefined;

  constructor(header: Header, { txs, evidence, lastCommit }: BlockParts) {
    this.header = header;
    this.txs = txs;
    this.evidence = evidence;
    this.lastCommit = lastCommit;
  }

  /** With the hashes of what the block contains. */
  static of(header: Omit<Header, "lastCommitHash" | "dataHash" | "evidenceHash">, parts: BlockParts): Block {
    return new Block({ ...header, ...contentHashes(parts) }, parts);
  }

  /** @throws MalformedProtobufError */
  static decode(bytes: Uint8Array): Block {
    const { header, data, evidence, lastCommit } = decodeMessage(blockForm, bytes);
    const { version, proposerAddress, ...fields } = header;
    const block = new Block(
      {
        appVersion: Number(version.app),
        chainId: fields.chainId,
        height: Number(fields.height),
        time: fromTimestamp(fields.time),
        lastBlockId: fromBlockIdFields(fields.lastBlockId),
        lastCommitHash: digitsOf(fields.lastCommitHash),
        dataHash: digitsOf(fields.dataHash),
        validatorsHash: digitsOf(fields.validatorsHash),
        nextValidatorsHash: digitsOf(fields.nextValidatorsHash),
        consensusHash: digitsOf(fields.consensusHash),
        appHash: digitsOf(fields.appHash),
        lastResultsHash: digitsOf(fields.lastResultsHash),
        evidenceHash: digitsOf(fields.evidenceHash),
        proposer: digitsOf(proposerAddress),
      },
      {
        txs: data.txs,
        evidence: evidence.evidence.map(fromEvidenceFields),
        lastCommit: fromCommitFields(lastCommit),
      },
    );
    block.#bytes = bytes;
    return block;
  }

  get height(): number {
    return this.header.height;
  }

  get id(): BlockId {
    this.#id ??= { hash: headerHash(this.header), parts: partsOf(this.bytes) };
    return this.#id;
  }

  get hash(): string {
    return this.id.hash;
  }

  /** Its protobuf form. */
  get bytes(): Uint8Array {
    this.#bytes ??= encodeMessage(blockForm, {
      header: toHeaderFields(this.header),
      data: { txs: this.txs },
      evidence: { evidence: this.evidence.map(toEvidenceFields) },
      lastCommit: toCommitFields(this.lastCommit),
    });
    return this.#bytes;
  }

  /** Whether the header has the hashes of what the block contains. */
  get isConsistent(): boolean {
    if (this.#isConsistent === undefined) {
      const hashes = contentHashes(this);
      this.#isConsistent =
        hashes.dataHash === this.header.dataHash &&
        hashes.lastCommitHash === this.header.lastCommitHash &&
        hashes.evidenceHash === this.header.evidenceHash;
    }
    return this.#isConsistent;
  }
}

function contentHashes({ txs, evidence, lastCommit }: BlockParts) {
  return {
    lastCommitHash: digitsOf(
      merkleRoot(
        lastCommit.signatures.map((each) => encodeMessage(commitSignatureForm, toCommitSignatureFields(each))),
      ),
    ),
    dataHash: digitsOf(dataHash(txs)),
    evidenceHash: digitsOf(merkleRoot(evidence.map(encodeEvidence))),
  };
}

function toHeaderFields(header: Header) {
  return {
    version: { block: BigInt(BLOCK_PROTOCOL), app: BigInt(header.appVersion) },
    chainId: header.chainId,
    height: BigInt(header.height),
    time: toTimestamp(header.time),
    lastBlockId: toBlockIdFields(header.lastBlockId),
    lastCommitHash: bytesOf(header.lastCommitHash),
    dataHash: bytesOf(header.dataHash),
    validatorsHash: bytesOf(header.validatorsHash),
    nextValidatorsHash: bytesOf(header.nextValidatorsHash),
    consensusHash: bytesOf(header.consensusHash),
    appHash: bytesOf(header.appHash),
    lastResultsHash: bytesOf(header.lastResultsHash),
    evidenceHash: bytesOf(header.evidenceHash),
    proposerAddress: bytesOf(header.proposer),
  };
}

/** 64 hexadecimal digits. */
export function headerHash(header: Header): string {
  return engineHeaderHash(toHeaderFields(header)).slice(2);
}

function partsOf(bytes: Uint8Array): BlockId["parts"] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PART_BYTES) parts.push(bytes.subarray(at, at + PART_BYTES));
  return { total: parts.length, hash: digitsOf(merkleRoot(parts)) };
}

const hashedParams = message({ maxBytes: single(1, "int64"), maxGas: single(2, "int64") });

/** The part of the consensus parameters that headers cover. */
export function consensusHash(params: { readonly maxBytes: number; readonly maxGas: number }): string {
  const { maxBytes, maxGas } = params;
  const bytes = encodeMessage(hashedParams, { maxBytes: BigInt(maxBytes), maxGas: BigInt(maxGas) });
  return hash("sha256", bytes, "hex");
}

const hashedResult = message({
  code: single(1, "uint32"),
  data: single(2, "bytes"),
  gasWanted: single(5, "int64"),
  gasUsed: single(6, "int64"),
});

type HashedResult = {
  readonly code: number;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
};

export function resultsHash(results: readonly HashedResult[]): string {
  return digitsOf(merkleRoot(results.map((result) => encodeMessage(hashedResult, result))));
}
