import { addressOfCompressedKey } from "../../../base/crypto/compressed-public-key.ts";
import { InvariantError, invariant, NodeError } from "../../../base/errors.ts";
import { addressFromBytes } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import type {
  Application,
  ApplyResult,
  BlockInput,
  BlockResult,
  LastCommit,
  Misbehavior,
  OfferResult,
  Proposal,
  Time,
  TxResult,
  Validator,
} from "../../application.ts";
import { filteredPeer } from "../../peer-lists.ts";
import { EVIDENCE_AGE_BLOCKS, EVIDENCE_AGE_SECONDS, EVIDENCE_BYTES_MAX } from "../home/config.ts";
import type { PeerFilter } from "../permissions/node-permissions.ts";
import type { BlockWatcher } from "./block-watchers.ts";
import {
  BLOCK_ID_FLAG,
  type CommitInfo,
  type MisbehaviorMessage,
  type Reply,
  type Request,
  type Timestamp,
  type ValidatorUpdate,
} from "./messages.ts";
import { encodeVarint } from "./protobuf.ts";
import type { AbciHandlers } from "./server.ts";

export type HandlerOptions = {
  readonly version: string;
  /** First height that the engine decides. Until then, `info` reports height 0. */
  readonly initialHeight: number;
  /** Consulted before each connection to a peer. */
  readonly peers?: PeerFilter;
  /** CometBFT removes its blocks before this height; 0, the default: it keeps them. Called after each commit. */
  readonly retainHeight?: () => number;
  readonly watchers?: readonly BlockWatcher[];
};

/** CometBFT sent a request that its own rules exclude, or a genesis with other keys. */
class UnexpectedRequestError extends NodeError {
  readonly code = "ABCI_UNEXPECTED_REQUEST";
}

const OFFER: Readonly<Record<OfferResult, number>> = {
  accept: 1,
  abort: 2,
  reject: 3,
  rejectFormat: 4,
  rejectSender: 5,
};
const APPLY: Readonly<Record<ApplyResult["result"], number>> = {
  accept: 1,
  abort: 2,
  retry: 3,
  retrySnapshot: 4,
  rejectSnapshot: 5,
};
const UNKNOWN_QUERY = "unknown path: use the node's JSON-RPC";

const ACCEPT = 1;
const REJECT = 2;

const FLAGS = new Map<number, LastCommit["votes"][number]["flag"]>([
  [BLOCK_ID_FLAG.absent, "absent"],
  [BLOCK_ID_FLAG.commit, "commit"],
  [BLOCK_ID_FLAG.nil, "nil"],
]);

/**
 * The application behind the ABCI socket. Replies are checked before they are sent: a contradictory reply halts this node's consensus, or that
 * of all nodes if it is deterministic.
 */
export function createAbciHandlers(
  { version, initialHeight, peers, retainHeight = () => 0, watchers = [] }: HandlerOptions,
  application: Application,
): AbciHandlers {
  return {
    info() {
      const { height, appHash, appVersion } = application.info();
      const isBegun = height >= initialHeight;
      return {
        data: "evmint",
        version,
        appVersion: BigInt(appVersion),
        lastBlockHeight: isBegun ? BigInt(height) : 0n,
        lastBlockAppHash: isBegun ? hashToBytes(appHash) : EMPTY_BYTES,
      };
    },

    initChain({ time, chainId, initialHeight: height, validators, appStateBytes }) {
      const { appHash } = application.initChain({
        time: timeOf(time),
        chainId,
        initialHeight: numberOf(height),
        validators: validators.map(validatorOf),
        appState: appStateBytes,
      });
      return { appHash: hashToBytes(appHash) };
    },

    query: ({ path }) => filterReply(path, peers),

    checkTx({ tx }) {
      const { code, log } = application.checkTx(tx);
      return { code, log };
    },

    insertTx: ({ tx }) => ({ code: application.insertTx(tx).code }),

    reapTxs: ({ maxBytes, maxGas }) => ({
      txs: application.reapTxs({ maxBytes: Number(maxBytes), maxGas }),
    }),

    prepareProposal(request) {
      const maxTxBytes = numberOf(request.maxTxBytes);
      const txs = application.prepareProposal({
        ...proposalOf(request, request.localLastCommit),
        maxTxBytes,
      });
      assertFits(txs, maxTxBytes);
      return { txs };
    },

    processProposal(request) {
      const input = blockOf(request);
      for (const watcher of watchers) watcher.proposed?.(input);
      return { status: application.processProposal(input) ? ACCEPT : REJECT };
    },

    finalizeBlock(request) {
      const input = blockOf(request);
      const { height } = application.info();
      invariant(input.height === height + 1, `block ${input.height} must follow block ${height}`);
      for (const watcher of watchers) watcher.finalized(input);
      return finalizedReply(application.finalizeBlock(input), request.txs.length);
    },

    commit() {
      application.commit();
      return { retainHeight: BigInt(retainHeight()) };
    },

    listSnapshots: () => ({
      snapshots: application.listSnapshots().map((snapshot) => ({ ...snapshot, height: BigInt(snapshot.height) })),
    }),

    loadSnapshotChunk: ({ height, format, chunk }) => ({
      chunk: application.loadSnapshotChunk(numberOf(height), format, chunk),
    }),

    ...restoreCalls(application),
  };
}

/** CometBFT connects to a peer if the code is 0. */
function filterReply(path: string, peers: PeerFilter | undefined): { readonly code: number; readonly log?: string } {
  const peer = peers && filteredPeer(path);
  if (peer === undefined) return { code: 1, log: UNKNOWN_QUERY };
  const refusal = peer === "address" ? undefined : peers?.refusal(peer.id);
  return refusal === undefined ? { code: 0 } : { code: 1, log: refusal };
}

/** Handlers of a node that has no chain yet and restores one. */
export function createRestoreHandlers(
  { version, peers }: Pick<HandlerOptions, "version" | "peers">,
  restore: Pick<Application, "info"> & RestoreCalls,
) {
  return {
    info() {
      const { height, appHash, appVersion } = restore.info();
      return {
        data: "evmint",
        version,
        appVersion: BigInt(appVersion),
        lastBlockHeight: BigInt(height),
        lastBlockAppHash: height === 0 ? EMPTY_BYTES : hashToBytes(appHash),
      };
    },
    query: ({ path }) => filterReply(path, peers),
    listSnapshots: () => ({ snapshots: [] }),
    loadSnapshotChunk: () => ({ chunk: EMPTY_BYTES }),
    ...restoreCalls(restore),
  } satisfies Partial<AbciHandlers>;
}

/** A restore may wait for other peers that confirm its data. */
type RestoreCalls = Pick<Application, "offerSnapshot"> & {
  applySnapshotChunk(...chunk: Parameters<Application["applySnapshotChunk"]>): ApplyResult | Promise<ApplyResult>;
};

function restoreCalls(application: RestoreCalls): Pick<AbciHandlers, "offerSnapshot" | "applySnapshotChunk"> {
  return {
    offerSnapshot({ snapshot, appHash }) {
      if (snapshot === undefined) throw new UnexpectedRequestError("an offer without a snapshot");
      const offered = { ...snapshot, height: numberOf(snapshot.height) };
      return { result: OFFER[application.offerSnapshot(offered, hashFromBytes(appHash))] };
    },

    applySnapshotChunk({ index, chunk, sender }) {
      const applied = application.applySnapshotChunk(index, chunk, sender);
      return applied instanceof Promise ? applied.then(appliedReply) : appliedReply(applied);
    },
  };
}

function appliedReply({ result, ...rest }: ApplyResult): Reply<"applySnapshotChunk"> {
  return { result: APPLY[result], ...rest };
}

function proposalOf(
  request: Pick<Request<"processProposal">, "height" | "time" | "proposerAddress" | "misbehavior">,
  commit: CommitInfo,
): Proposal {
  return {
    height: numberOf(request.height),
    time: timeOf(request.time),
    proposer: addressFromBytes(request.proposerAddress),
    lastCommit: {
      round: commit.round,
      votes: commit.votes.map(({ validator, blockIdFlag }) => {
        const flag = FLAGS.get(blockIdFlag);
        if (flag === undefined) throw new UnexpectedRequestError(`vote with flag ${blockIdFlag}`);
        return {
          address: addressFromBytes(validator.address),
          power: numberOf(validator.power),
          flag,
        };
      }),
    },
    misbehavior: request.misbehavior.map(misbehaviorOf),
  };
}

function blockOf(request: Request<"finalizeBlock">): BlockInput {
  return {
    ...proposalOf(request, request.lastCommit),
    txs: request.txs,
    consensusHash: hashFromBytes(request.hash),
  };
}

/** @throws InvariantError if the reply would halt CometBFT */
function finalizedReply(result: BlockResult, txCount: number): Partial<Reply<"finalizeBlock">> {
  const { appHash, results, validatorUpdates, evidenceAgeSeconds } = result;
  invariant(results.length === txCount, `${txCount} transactions need as many results`);
  assertUpdates(validatorUpdates);
  return {
    appHash: hashToBytes(appHash),
    txResults: results.map(txResultOf),
    validatorUpdates: validatorUpdates.map(updateOf),
    ...(evidenceAgeSeconds !== undefined && {
      consensusParamUpdates: { ...NO_UPDATES, evidence: evidenceOf(evidenceAgeSeconds) },
    }),
  };
}

const NO_UPDATES = {
  block: undefined,
  validator: undefined,
  version: undefined,
  abci: undefined,
  authority: undefined,
};

/** CometBFT drops evidence that is too old both in blocks and in time. With a limit of one block, only the time decides. */
function evidenceOf(seconds: number | null) {
  const maxBytes = BigInt(EVIDENCE_BYTES_MAX);
  const durationOf = (whole: number) => ({ seconds: BigInt(whole), nanos: 0 });
  return seconds === null
    ? { maxAgeNumBlocks: BigInt(EVIDENCE_AGE_BLOCKS), maxAgeDuration: durationOf(EVIDENCE_AGE_SECONDS), maxBytes }
    : { maxAgeNumBlocks: 1n, maxAgeDuration: durationOf(seconds), maxBytes };
}

function txResultOf({ code, gasWanted, gasUsed }: TxResult): Reply<"finalizeBlock">["txResults"][number] {
  return {
    code,
    gasWanted,
    gasUsed,
    data: EMPTY_BYTES,
    log: "",
    info: "",
    events: [],
    codespace: "",
  };
}

/** A validator in ABCI's form. */
export function updateOf({ publicKey, power }: Validator): ValidatorUpdate {
  const none = undefined;
  return {
    pubKey: {
      ed25519: none,
      secp256k1: none,
      bls12381: none,
      mldsa65: none,
      secp256k1eth: publicKey,
    },
    power: BigInt(power),
  };
}

function assertUpdates(updates: readonly Validator[]): void {
  const seen = new Set<string>();
  for (const { address, publicKey, power } of updates) {
    const isValid = Number.isSafeInteger(power) && power >= 0 && addressOfCompressedKey(publicKey) === address;
    invariant(isValid && !seen.has(address), `validator update of ${address} must be valid and single`);
    seen.add(address);
  }
}

/** CometBFT counts each transaction with its tag and length. Proposer data is always included, because a block needs it. */
function assertFits(txs: readonly Uint8Array[], maxTxBytes: number): void {
  if (txs.length === 1) return;
  const bytes = txs.reduce((sum, { length }) => sum + 1 + encodeVarint(length).length + length, 0);
  invariant(bytes <= maxTxBytes, `a proposal of ${bytes} bytes must fit into ${maxTxBytes}`);
}

function validatorOf({ pubKey, power }: ValidatorUpdate): Validator {
  const publicKey = pubKey.secp256k1eth;
  const address = publicKey && addressOfCompressedKey(publicKey);
  if (publicKey === undefined || address === undefined) {
    throw new UnexpectedRequestError("a validator without a secp256k1eth key");
  }
  return { publicKey, address, power: numberOf(power) };
}

function misbehaviorOf({ type, validator, height }: MisbehaviorMessage): Misbehavior {
  return {
    kind: type === 1 ? "duplicateVote" : "lightClientAttack",
    address: addressFromBytes(validator.address),
    height: numberOf(height),
  };
}

function timeOf({ seconds, nanos }: Timestamp): Time {
  return { seconds: numberOf(seconds), nanos };
}

/** Heights, powers and seconds are far below 2^53. */
function numberOf(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new InvariantError(`${value} must be below 2^53`);
  return number;
}
