import { errorTypeOf, type Span, type SpanAttributes, type Tracer } from "../base/telemetry/tracer.ts";
import type { Application } from "./application.ts";

/**
 * `application` with a span per height, containing one per step that the engine requests. Rounds of a height are consecutive proposals; the time
 * between two steps is spent on votes and the network.
 */
export function traceBlocks(application: Application, tracer: Tracer): Application {
  let height: number | undefined;
  let block: Span | undefined;

  function end(): void {
    block?.end();
    block = undefined;
    height = undefined;
  }

  function step<T>(name: string, of: number, run: () => T, describe: (result: T) => SpanAttributes = () => ({})): T {
    if (height !== of) {
      end();
      height = of;
      block = tracer.start("block", {});
      block.describe({ "block.number": of });
    }
    const span = tracer.start(name, { parent: block?.traceparent });
    try {
      const result = run();
      span.describe({ "block.number": of, ...describe(result) });
      span.end();
      return result;
    } catch (error) {
      span.end(errorTypeOf(error));
      throw error;
    }
  }

  return {
    info: () => application.info(),
    initChain: (start) => application.initChain(start),
    checkTx: (tx) => application.checkTx(tx),
    insertTx: (tx) => application.insertTx(tx),
    reapTxs: (limits) => application.reapTxs(limits),
    prepareAhead: (proposal, timeMs) => application.prepareAhead?.(proposal, timeMs) ?? false,
    listSnapshots: () => application.listSnapshots(),
    loadSnapshotChunk: (ofHeight, format, chunk) => application.loadSnapshotChunk(ofHeight, format, chunk),
    offerSnapshot: (snapshot, appHash) => application.offerSnapshot(snapshot, appHash),
    applySnapshotChunk: (index, chunk, sender) => application.applySnapshotChunk(index, chunk, sender),
    prepareProposal: (proposal) =>
      step(
        "prepare proposal",
        proposal.height,
        () => application.prepareProposal(proposal),
        (txs) => ({ "block.transactions": Math.max(0, txs.length - 1) }),
      ),
    processProposal: (input) =>
      step(
        "process proposal",
        input.height,
        () => application.processProposal(input),
        (isAccepted) => ({ "proposal.accepted": isAccepted, "proposal.proposer": input.proposer }),
      ),
    finalizeBlock: (input) =>
      step(
        "finalize block",
        input.height,
        () => application.finalizeBlock(input),
        ({ appHash, results }) => ({ "block.hash": appHash, "block.transactions": results.length - 1 }),
      ),
    commit() {
      const of = height ?? application.info().height + 1;
      step("commit block", of, () => application.commit());
      end();
    },
    engineLost() {
      application.engineLost();
      end();
    },
  };
}
