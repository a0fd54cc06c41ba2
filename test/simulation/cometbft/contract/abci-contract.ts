import type { AbciReply, AbciRequest } from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName, Reply, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { digitsOf, fromTimestamp } from "../types/vote.ts";
import { type BlockRequest, ChainFacts, ContractViolation, expect } from "./chain-facts.ts";

/** Something that happens between an engine and its application. */
export type AbciEvent =
  | { readonly kind: "open" }
  | { readonly kind: "close" }
  | { readonly kind: "request"; readonly message: AbciRequest }
  | { readonly kind: "reply"; readonly message: AbciReply };

/** An engine opens its connections in this order. */
const CONNECTIONS = ["query", "snapshot", "mempool", "consensus"] as const;
type Connection = (typeof CONNECTIONS)[number];

const CALLS_OF: Readonly<Record<Connection, readonly CallName[]>> = {
  query: ["info", "query", "echo"],
  snapshot: ["listSnapshots", "offerSnapshot", "loadSnapshotChunk", "applySnapshotChunk"],
  mempool: ["checkTx", "insertTx", "reapTxs"],
  consensus: ["initChain", "prepareProposal", "processProposal", "finalizeBlock", "commit"],
};

const ACCEPT = 1;
const PROPOSAL_STATUSES: readonly number[] = [ACCEPT, 2];
/** Tag and length of a transaction in a block, at least. */
const TX_OVERHEAD_BYTES = 2;

/** One run of an engine, from its first connection to the first that ends. */
type Run = {
  readonly connections: Map<number, { readonly name: Connection; readonly requests: AbciRequest[] }>;
  /** Height of the application's last block; undefined before it has said so. */
  height: number | undefined;
  isInitialised: boolean;
  /** What FinalizeBlock has and Commit has not. */
  finalizing: BlockRequest | undefined;
  isFinalized: boolean;
  /** The snapshot that the application has accepted. */
  restoring: { readonly height: number; readonly appHash: string; chunks: number } | undefined;
  isEnded: boolean;
};

/** What is known of a node from run to run. */
type NodeView = { run: Run; proposer: string | undefined };

/**
 * The rules by which CometBFT v0.40 calls its application, for all nodes of one chain: which call may follow which on which connection, what a restart may
 * repeat, and what every block is: of the proposer whose turn it was, later than its parent, with the votes of the validators of the block before. It
 * accepts recordings of the real program and every simulated one.
 *
 * Faults from outside are no violation: a run can end at any point, and an application can have lost blocks at the start of the next one.
 */
export class AbciContract {
  readonly #facts = new ChainFacts();
  readonly #nodes = new Map<number | string, NodeView>();
  /** Calls that were looked at. */
  calls = 0;

  /** Addresses of the validators that decide `height`; undefined while unknown. */
  validatorsAt(height: number): readonly string[] | undefined {
    return this.#facts.validatorsAt(height);
  }

  /**
   * @param node any name
   * @param connection its number, which differs from all others of one run of the engine
   * @returns the rule that is broken, in words
   */
  observe(node: number | string, connection: number, event: AbciEvent): string | undefined {
    try {
      this.#observe(node, connection, event);
      return undefined;
    } catch (error) {
      if (error instanceof ContractViolation) return error.message;
      throw error;
    }
  }

  #observe(node: number | string, connection: number, event: AbciEvent): void {
    let view = this.#nodes.get(node);
    if (view === undefined) {
      view = { run: newRun(), proposer: undefined };
      this.#nodes.set(node, view);
    }
    if (event.kind === "open") {
      // A run whose end was not seen is over when another one begins.
      const { connections, isEnded } = view.run;
      if (isEnded || connections.size === CONNECTIONS.length || connections.has(connection)) view.run = newRun();
      const name = CONNECTIONS[view.run.connections.size]!;
      view.run.connections.set(connection, { name, requests: [] });
      return;
    }
    const open = view.run.connections.get(connection);
    if (open === undefined) {
      expect(event.kind === "close", "a message on a connection that is not open");
      return;
    }
    if (event.kind === "close") view.run.isEnded = true;
    else if (event.kind === "request") {
      const { call } = event.message;
      if (call === "flush") return;
      this.calls++;
      expect(CALLS_OF[open.name].includes(call), `${call} on the ${open.name} connection`);
      const isFirst = open.name !== "consensus" || open.requests.length === 0;
      expect(isFirst, `${call} before the reply to ${open.requests[0]?.call}`);
      open.requests.push(event.message);
      this.#request(view, event.message);
    } else {
      const { message } = event;
      if (message.call === "flush") return;
      const request = open.requests.shift();
      // The application ends the connection with it.
      if (message.call === "exception") return;
      const isDue = request !== undefined && request.call === message.call;
      expect(isDue, `a reply to ${message.call} where one to ${request?.call} is due`);
      this.#reply(view.run, request, message);
    }
  }

  #request(view: NodeView, { call, fields }: AbciRequest): void {
    const { run } = view;
    switch (call) {
      case "initChain":
        this.#expectStarted(run, call);
        expect(run.height === 0 && !run.isInitialised, "InitChain of an application that has blocks");
        this.#facts.genesis(fields);
        return;
      case "prepareProposal":
        this.#expectNext(run, call, fields.height);
        this.#facts.checkTime(Number(fields.height), fromTimestamp(fields.time));
        this.#facts.checkLastCommit(Number(fields.height), fields.localLastCommit);
        this.#expectOwn(view, digitsOf(fields.proposerAddress));
        return;
      case "processProposal":
        this.#expectNext(run, call, fields.height);
        this.#facts.checkBlock(fields);
        return;
      case "finalizeBlock":
        this.#expectNext(run, call, fields.height);
        this.#facts.checkBlock(fields);
        this.#facts.decide(fields);
        run.finalizing = fields;
        run.isFinalized = false;
        return;
      case "commit":
        expect(run.finalizing !== undefined && run.isFinalized, "Commit without a block that is finalized");
        return;
      case "offerSnapshot":
        this.#expectSnapshot(run, fields);
        return;
      case "applySnapshotChunk":
        expect(run.restoring !== undefined, "a chunk of no snapshot that was accepted");
        expect(fields.index < run.restoring.chunks, `chunk ${fields.index} of a snapshot with ${run.restoring.chunks}`);
        return;
      case "insertTx":
        expect(fields.tx.length > 0, "InsertTx without a transaction");
        return;
    }
  }

  #reply(run: Run, request: AbciRequest, { call, fields }: Exclude<AbciReply, { readonly call: "exception" }>): void {
    switch (call) {
      case "info":
        this.#informed(run, fields);
        return;
      case "initChain":
        run.isInitialised = true;
        return;
      case "prepareProposal": {
        const { maxTxBytes } = request.fields as Request<"prepareProposal">;
        const bytes = fields.txs.reduce((sum, { length }) => sum + TX_OVERHEAD_BYTES + length, 0);
        expect(bytes <= maxTxBytes, `a proposal with ${bytes} bytes where ${maxTxBytes} may be`);
        return;
      }
      case "processProposal":
        expect(PROPOSAL_STATUSES.includes(fields.status), `ProcessProposal is answered with ${fields.status}`);
        return;
      case "finalizeBlock": {
        const { txs, height } = request.fields as BlockRequest;
        expect(
          fields.txResults.length === txs.length,
          `${txs.length} transactions with ${fields.txResults.length} results`,
        );
        this.#facts.execute(Number(height), fields);
        run.isFinalized = true;
        return;
      }
      case "commit": {
        run.height = Number(run.finalizing!.height);
        run.finalizing = undefined;
        expect(
          Number(fields.retainHeight) <= run.height,
          `Commit of ${run.height} retains from ${fields.retainHeight}`,
        );
        return;
      }
      case "offerSnapshot": {
        const { snapshot, appHash } = request.fields as Request<"offerSnapshot">;
        const { height, chunks } = snapshot!;
        const isAccepted = fields.result === ACCEPT;
        run.restoring = isAccepted ? { height: Number(height), appHash: digitsOf(appHash), chunks } : undefined;
      }
    }
  }

  #informed(run: Run, { lastBlockHeight, lastBlockAppHash }: Reply<"info">): void {
    const height = Number(lastBlockHeight);
    if (run.height !== undefined)
      expect(height === run.height, `Info says ${height} after ${run.height} was committed`);
    if (run.restoring)
      expect(height === run.restoring.height, `Info says ${height} after a snapshot of ${run.restoring.height}`);
    const known = this.#facts.appHashAt(height);
    expect(known === undefined || known === digitsOf(lastBlockAppHash), `Info has another app hash of block ${height}`);
    run.height = height;
    run.restoring = undefined;
  }

  #expectStarted(run: Run, call: CallName): asserts run is Run & { height: number } {
    expect(run.height !== undefined, `${call} before Info`);
  }

  /** A call for the block after the last one. */
  #expectNext(run: Run, call: CallName, height: bigint): void {
    this.#expectStarted(run, call);
    expect(run.finalizing === undefined, `${call} of ${height} before Commit of ${run.finalizing?.height}`);
    expect(run.height > 0 || run.isInitialised, `${call} before InitChain`);
    const next = run.height === 0 ? this.#facts.initialHeight : run.height + 1;
    expect(Number(height) === next, `${call} of ${height} where ${next} is next`);
  }

  /** A node proposes with one key. */
  #expectOwn(view: NodeView, proposer: string): void {
    expect((view.proposer ?? proposer) === proposer, "PrepareProposal for another proposer than this node");
    view.proposer = proposer;
  }

  #expectSnapshot(run: Run, { snapshot, appHash }: Request<"offerSnapshot">): void {
    expect(run.height === undefined && snapshot !== undefined, "a snapshot for an application that has blocks");
    const known = this.#facts.appHashAt(Number(snapshot.height));
    expect(
      known === undefined || known === digitsOf(appHash),
      "a snapshot is offered with another app hash than the chain's",
    );
  }
}

function newRun(): Run {
  return {
    connections: new Map(),
    height: undefined,
    isInitialised: false,
    finalizing: undefined,
    isFinalized: false,
    restoring: undefined,
    isEnded: false,
  };
}
