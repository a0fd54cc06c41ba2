/** ABCI 2.0 as in CometBFT v0.40: every message as a table. Numbers are those of `tendermint/abci/types.proto`. */
import { type MessageOf, message, optional, repeated, single } from "./protobuf.ts";

const timestamp = message({ seconds: single(1, "int64"), nanos: single(2, "int32") });
const duration = timestamp;

const publicKey = message({
  ed25519: optional(1, "bytes"),
  secp256k1: optional(2, "bytes"),
  bls12381: optional(3, "bytes"),
  mldsa65: optional(4, "bytes"),
  /** 33 bytes, compressed; the address is Ethereum's. */
  secp256k1eth: optional(5, "bytes"),
});

const validatorUpdate = message({
  pubKey: single(1, publicKey),
  /** 0 removes the validator. */
  power: single(2, "int64"),
});

const validator = message({ address: single(1, "bytes"), power: single(3, "int64") });

const blockIdFlag = { absent: 1, commit: 2, nil: 3 } as const;

const voteInfo = message({ validator: single(1, validator), blockIdFlag: single(3, "int32") });
const commitInfo = message({ round: single(1, "int32"), votes: repeated(2, voteInfo) });

const extendedVoteInfo = message({
  validator: single(1, validator),
  extension: single(3, "bytes"),
  extensionSignature: single(4, "bytes"),
  blockIdFlag: single(5, "int32"),
});
const extendedCommitInfo = message({
  round: single(1, "int32"),
  votes: repeated(2, extendedVoteInfo),
});

const misbehavior = message({
  /** 1 duplicate vote, 2 light client attack */
  type: single(1, "int32"),
  validator: single(2, validator),
  height: single(3, "int64"),
  time: single(4, timestamp),
  totalVotingPower: single(5, "int64"),
});

const eventAttribute = message({
  key: single(1, "string"),
  value: single(2, "string"),
  index: single(3, "bool"),
});
const event = message({ type: single(1, "string"), attributes: repeated(2, eventAttribute) });

const txResult = message({
  code: single(1, "uint32"),
  data: single(2, "bytes"),
  log: single(3, "string"),
  info: single(4, "string"),
  gasWanted: single(5, "int64"),
  gasUsed: single(6, "int64"),
  events: repeated(7, event),
  codespace: single(8, "string"),
});

const snapshot = message({
  height: single(1, "uint64"),
  format: single(2, "uint32"),
  chunks: single(3, "uint32"),
  hash: single(4, "bytes"),
  metadata: single(5, "bytes"),
});

const consensusParams = message({
  block: optional(1, message({ maxBytes: single(1, "int64"), maxGas: single(2, "int64") })),
  evidence: optional(
    2,
    message({
      maxAgeNumBlocks: single(1, "int64"),
      maxAgeDuration: optional(2, duration),
      maxBytes: single(3, "int64"),
    }),
  ),
  validator: optional(3, message({ pubKeyTypes: repeated(1, "string") })),
  version: optional(4, message({ app: single(1, "uint64") })),
  abci: optional(5, message({ voteExtensionsEnableHeight: single(1, "int64") })),
  authority: optional(6, message({ authority: single(1, "string") })),
});

const empty = message({});

const proposedBlock = {
  txs: repeated(1, "bytes"),
  lastCommit: single(2, commitInfo),
  misbehavior: repeated(3, misbehavior),
  hash: single(4, "bytes"),
  height: single(5, "int64"),
  time: single(6, timestamp),
  nextValidatorsHash: single(7, "bytes"),
  proposerAddress: single(8, "bytes"),
} as const;

/** Each call with the numbers of its request and reply in the two oneofs, and the form of both. */
export const CALLS = {
  echo: {
    request: [1, message({ message: single(1, "string") })],
    reply: [2, message({ message: single(1, "string") })],
  },
  flush: { request: [2, empty], reply: [3, empty] },
  info: {
    request: [
      3,
      message({
        version: single(1, "string"),
        blockVersion: single(2, "uint64"),
        p2pVersion: single(3, "uint64"),
        abciVersion: single(4, "string"),
      }),
    ],
    reply: [
      4,
      message({
        data: single(1, "string"),
        version: single(2, "string"),
        appVersion: single(3, "uint64"),
        lastBlockHeight: single(4, "int64"),
        lastBlockAppHash: single(5, "bytes"),
      }),
    ],
  },
  initChain: {
    request: [
      5,
      message({
        time: single(1, timestamp),
        chainId: single(2, "string"),
        consensusParams: optional(3, consensusParams),
        validators: repeated(4, validatorUpdate),
        appStateBytes: single(5, "bytes"),
        initialHeight: single(6, "int64"),
      }),
    ],
    reply: [
      6,
      message({
        consensusParams: optional(1, consensusParams),
        validators: repeated(2, validatorUpdate),
        appHash: single(3, "bytes"),
      }),
    ],
  },
  query: {
    request: [
      6,
      message({
        data: single(1, "bytes"),
        path: single(2, "string"),
        height: single(3, "int64"),
        prove: single(4, "bool"),
      }),
    ],
    reply: [
      7,
      message({
        code: single(1, "uint32"),
        log: single(3, "string"),
        info: single(4, "string"),
        index: single(5, "int64"),
        key: single(6, "bytes"),
        value: single(7, "bytes"),
        height: single(9, "int64"),
        codespace: single(10, "string"),
      }),
    ],
  },
  checkTx: {
    request: [8, message({ tx: single(1, "bytes"), type: single(2, "int32") })],
    reply: [9, txResult],
  },
  commit: {
    request: [11, empty],
    reply: [12, message({ retainHeight: single(3, "int64") })],
  },
  listSnapshots: {
    request: [12, empty],
    reply: [13, message({ snapshots: repeated(1, snapshot) })],
  },
  offerSnapshot: {
    request: [13, message({ snapshot: optional(1, snapshot), appHash: single(2, "bytes") })],
    reply: [14, message({ result: single(1, "int32") })],
  },
  loadSnapshotChunk: {
    request: [
      14,
      message({
        height: single(1, "uint64"),
        format: single(2, "uint32"),
        chunk: single(3, "uint32"),
      }),
    ],
    reply: [15, message({ chunk: single(1, "bytes") })],
  },
  applySnapshotChunk: {
    request: [
      15,
      message({
        index: single(1, "uint32"),
        chunk: single(2, "bytes"),
        sender: single(3, "string"),
      }),
    ],
    reply: [
      16,
      message({
        result: single(1, "int32"),
        refetchChunks: repeated(2, "uint32"),
        rejectSenders: repeated(3, "string"),
      }),
    ],
  },
  prepareProposal: {
    request: [
      16,
      message({
        maxTxBytes: single(1, "int64"),
        txs: repeated(2, "bytes"),
        localLastCommit: single(3, extendedCommitInfo),
        misbehavior: repeated(4, misbehavior),
        height: single(5, "int64"),
        time: single(6, timestamp),
        nextValidatorsHash: single(7, "bytes"),
        proposerAddress: single(8, "bytes"),
      }),
    ],
    reply: [17, message({ txs: repeated(1, "bytes") })],
  },
  processProposal: {
    request: [17, message(proposedBlock)],
    /** 1 accept, 2 reject */
    reply: [18, message({ status: single(1, "int32") })],
  },
  finalizeBlock: {
    request: [20, message(proposedBlock)],
    reply: [
      21,
      message({
        events: repeated(1, event),
        txResults: repeated(2, txResult),
        validatorUpdates: repeated(3, validatorUpdate),
        consensusParamUpdates: optional(4, consensusParams),
        appHash: single(5, "bytes"),
      }),
    ],
  },
  insertTx: {
    request: [21, message({ tx: single(1, "bytes") })],
    reply: [22, message({ code: single(1, "uint32") })],
  },
  reapTxs: {
    request: [22, message({ maxBytes: single(1, "uint64"), maxGas: single(2, "uint64") })],
    reply: [23, message({ txs: repeated(1, "bytes") })],
  },
} as const;

/** Vote extensions are disabled: these calls have only a number, so that the exception names them. */
export const UNSUPPORTED_REQUESTS: ReadonlyMap<number, string> = new Map([
  [18, "extend_vote"],
  [19, "verify_vote_extension"],
]);

/** Number of the reply that reports a failure. The connection ends with it. */
export const EXCEPTION_REPLY = 1;
export const exception = message({ error: single(1, "string") });

export const BLOCK_ID_FLAG = blockIdFlag;

type Calls = typeof CALLS;
export type CallName = keyof Calls;
export type Request<Name extends CallName> = MessageOf<Calls[Name]["request"][1]>;
export type Reply<Name extends CallName> = MessageOf<Calls[Name]["reply"][1]>;

export type Timestamp = MessageOf<typeof timestamp>;
export type CommitInfo = MessageOf<typeof commitInfo>;
export type MisbehaviorMessage = MessageOf<typeof misbehavior>;
export type ValidatorUpdate = MessageOf<typeof validatorUpdate>;
export { consensusParams, publicKey, timestamp, validatorUpdate };
