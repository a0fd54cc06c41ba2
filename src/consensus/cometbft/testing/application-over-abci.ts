import { addressOfCompressedKey } from "../../../crypto/compressed-public-key.ts";
import { addressToBytes } from "../../../primitives/address.ts";
import { hashFromBytes, hashToBytes } from "../../../primitives/hash.ts";
import type { Application, BlockInput, InsertCode, Proposal, Time } from "../../application.ts";
import { createAbciHandlers, updateOf } from "../abci-handlers.ts";
import { decodeReply, decodeRequest, FrameReader, replyFrame, requestFrame } from "../frames.ts";
import { BLOCK_ID_FLAG, type CallName, type Reply, type Request } from "../messages.ts";

const OFFERS = ["accept", "abort", "reject", "rejectFormat", "rejectSender"] as const;
const APPLIED = ["accept", "abort", "retry", "retrySnapshot", "rejectSnapshot"] as const;
const MISBEHAVIOR = { duplicateVote: 1, lightClientAttack: 2 } as const;

/** `application` as CometBFT sees it: every call goes through the bytes of its request and of its reply. */
export function applicationOverAbci(application: Application): Application {
  const handlers = createAbciHandlers({ version: "test", initialHeight: 1 }, application);

  function call<Name extends Exclude<CallName, "echo" | "flush">>(
    name: Name,
    fields: Partial<Request<Name>>,
  ): Reply<Name> {
    const [request] = new FrameReader().push(requestFrame(name, fields));
    const decoded = decodeRequest(request!);
    const reply = handlers[name](decoded.fields as never) as Partial<Reply<Name>>;
    const [answer] = new FrameReader().push(replyFrame(name, reply));
    return decodeReply(answer!).fields as Reply<Name>;
  }

  return {
    info() {
      const { lastBlockHeight, lastBlockAppHash, appVersion } = call("info", {});
      const height = Number(lastBlockHeight);
      // Before the first block `info` reports height 0, and initChain has returned the hash.
      const appHash = height === 0 ? application.info().appHash : hashFromBytes(lastBlockAppHash);
      return { height, appHash, appVersion: Number(appVersion) };
    },
    initChain({ time, chainId, initialHeight, validators, appState }) {
      const { appHash } = call("initChain", {
        time: timestampOf(time),
        chainId,
        initialHeight: BigInt(initialHeight),
        validators: validators.map(updateOf),
        appStateBytes: appState,
      });
      return { appHash: hashFromBytes(appHash) };
    },
    checkTx(tx) {
      const { code, log } = call("checkTx", { tx });
      return { code: code as InsertCode, log };
    },
    insertTx: (tx) => ({ code: call("insertTx", { tx }).code as InsertCode }),
    reapTxs: ({ maxBytes, maxGas }) =>
      call("reapTxs", { maxBytes: BigInt(maxBytes), maxGas }).txs.map((tx) => Uint8Array.from(tx)),
    prepareProposal({ maxTxBytes, ...proposal }) {
      const { lastCommit, ...fields } = fieldsOf(proposal);
      const votes = lastCommit.votes.map((vote) => ({
        ...vote,
        extension: new Uint8Array(),
        extensionSignature: new Uint8Array(),
      }));
      return [
        ...call("prepareProposal", {
          ...fields,
          maxTxBytes: BigInt(maxTxBytes),
          localLastCommit: { round: lastCommit.round, votes },
        }).txs,
      ];
    },
    processProposal: (input) => call("processProposal", blockOf(input)).status === 1,
    finalizeBlock(input) {
      const { appHash, txResults, validatorUpdates } = call("finalizeBlock", blockOf(input));
      return {
        appHash: hashFromBytes(appHash),
        results: txResults.map(({ code, gasWanted, gasUsed }) => ({
          code: code as 0 | 1,
          gasWanted,
          gasUsed,
        })),
        validatorUpdates: validatorUpdates.map(({ pubKey, power }) => {
          const publicKey = Uint8Array.from(pubKey.secp256k1eth!);
          return { address: addressOfCompressedKey(publicKey)!, publicKey, power: Number(power) };
        }),
      };
    },
    commit: () => ({ retainHeight: Number(call("commit", {}).retainHeight) }),
    listSnapshots: () =>
      call("listSnapshots", {}).snapshots.map((snapshot) => ({
        ...snapshot,
        height: Number(snapshot.height),
      })),
    loadSnapshotChunk: (height, format, chunk) =>
      call("loadSnapshotChunk", { height: BigInt(height), format, chunk }).chunk,
    offerSnapshot(snapshot, appHash) {
      const { result } = call("offerSnapshot", {
        snapshot: { ...snapshot, height: BigInt(snapshot.height) },
        appHash: hashToBytes(appHash),
      });
      return OFFERS[result - 1]!;
    },
    applySnapshotChunk(index, chunk, sender) {
      const reply = call("applySnapshotChunk", { index, chunk, sender });
      return { ...reply, result: APPLIED[reply.result - 1]! };
    },
    engineLost: () => application.engineLost(),
  };
}

function blockOf({ txs, consensusHash, ...proposal }: BlockInput) {
  return { ...fieldsOf(proposal), txs, hash: hashToBytes(consensusHash) };
}

function fieldsOf({ height, time, proposer, lastCommit, misbehavior }: Proposal) {
  return {
    height: BigInt(height),
    time: timestampOf(time),
    proposerAddress: addressToBytes(proposer),
    lastCommit: {
      round: lastCommit.round,
      votes: lastCommit.votes.map(({ address, power, flag }) => ({
        validator: { address: addressToBytes(address), power: BigInt(power) },
        blockIdFlag: BLOCK_ID_FLAG[flag],
      })),
    },
    misbehavior: misbehavior.map((item) => ({
      type: MISBEHAVIOR[item.kind],
      validator: { address: addressToBytes(item.address), power: 1n },
      height: BigInt(item.height),
      time: timestampOf(time),
      totalVotingPower: 1n,
    })),
  };
}

function timestampOf({ seconds, nanos }: Time) {
  return { seconds: BigInt(seconds), nanos };
}
