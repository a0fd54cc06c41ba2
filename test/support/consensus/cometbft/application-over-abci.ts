import { hashFromBytes, hashToBytes } from "../../../../src/base/primitives/hash.ts";
import type { Application, InsertCode } from "../../../../src/consensus/application.ts";
import {
  decodeReply,
  decodeRequest,
  FrameReader,
  replyFrame,
  requestFrame,
} from "../../../../src/consensus/cometbft/abci/frames.ts";
import { createAbciHandlers, type HandlerOptions } from "../../../../src/consensus/cometbft/abci/handlers.ts";
import type { CallName, Reply, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { blockOf, proposalOf, resultOf, startOf } from "./abci-requests.ts";

const OFFERS = ["accept", "abort", "reject", "rejectFormat", "rejectSender"] as const;
const APPLIED = ["accept", "abort", "retry", "retrySnapshot", "rejectSnapshot"] as const;

/** `application` as CometBFT sees it: every call goes through the bytes of its request and of its reply. */
export function applicationOverAbci(application: Application, options: Partial<HandlerOptions> = {}): Application {
  const handlers = createAbciHandlers({ version: "test", initialHeight: 1, ...options }, application);

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
    initChain: (start) => ({ appHash: hashFromBytes(call("initChain", startOf(start)).appHash) }),
    checkTx(tx) {
      const { code, log } = call("checkTx", { tx });
      return { code: code as InsertCode, log };
    },
    insertTx: (tx) => ({ code: call("insertTx", { tx }).code as InsertCode }),
    reapTxs: ({ maxBytes, maxGas }) =>
      call("reapTxs", { maxBytes: BigInt(maxBytes), maxGas }).txs.map((tx) => Uint8Array.from(tx)),
    prepareProposal: (proposal) => [...call("prepareProposal", proposalOf(proposal)).txs],
    processProposal: (input) => call("processProposal", blockOf(input)).status === 1,
    finalizeBlock: (input) => resultOf(call("finalizeBlock", blockOf(input))),
    commit() {
      call("commit", {});
    },
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
