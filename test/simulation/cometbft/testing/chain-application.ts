import { createHash } from "node:crypto";
import { decodeRequest, FrameReader, replyFrame } from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName, Reply, Request, ValidatorUpdate } from "../../../../src/consensus/cometbft/abci/messages.ts";
import type { SocketLike } from "../world.ts";
import type { ProcessTime } from "./virtual-time.ts";

type Handlers = { readonly [Name in CallName]?: (fields: Request<Name>) => Partial<Reply<Name>> };

/** What the application has on disk. */
export type ChainDisk = { height: number; appHash: string };

/**
 * An application whose state is a hash of all blocks, behind sockets in virtual time. Its disk survives it.
 */
export class ChainApplication {
  readonly disk: ChainDisk;
  /** Calls of consensus with their heights, in order. */
  readonly calls: string[] = [];
  /** Transactions for the next proposal of this node, and for its peers. */
  pending: Uint8Array[] = [];
  /** Those of peers. */
  readonly inserted: Uint8Array[] = [];
  /** Blocks as FinalizeBlock gave them, by height. */
  readonly finalized = new Map<number, Request<"finalizeBlock">>();
  /** Validator updates in the reply to a block. */
  updates = new Map<number, readonly ValidatorUpdate[]>();
  /** Replaces replies. */
  overrides: Handlers = {};
  isListening = true;
  /** Sees each call before it is answered. */
  observe: (call: CallName, fields: unknown) => void = () => {};
  /** A snapshot is taken at each multiple. */
  snapshotInterval = 10;
  readonly snapshots = new Map<number, string>();
  #restoring: { readonly height: number; readonly hash: Uint8Array; readonly chunks: Uint8Array[] } | undefined;
  #next: { readonly height: number; readonly appHash: string } | undefined;
  #reaped = 0;

  constructor(disk: ChainDisk = { height: 0, appHash: "" }) {
    this.disk = disk;
  }

  /** A connection of the process whose clock is `time`. */
  connect(time: ProcessTime): SocketLike {
    const listeners: { [event: string]: (argument: never) => void } = {};
    const emit = (event: string, argument?: unknown) =>
      void time.after(0, () => (listeners[event] as ((argument: unknown) => void) | undefined)?.(argument));
    const frames = new FrameReader();
    const socket = {
      on: (event: string, listener: (argument: never) => void) => {
        listeners[event] = listener;
        return socket;
      },
      write: (bytes: Uint8Array) => {
        const replies = frames.push(Uint8Array.from(bytes)).map((body) => this.#answer(body));
        emit("data", Buffer.concat(replies));
        return true;
      },
      destroy: () => socket,
    };
    emit(this.isListening ? "connect" : "error", new Error("ECONNREFUSED"));
    return socket as unknown as SocketLike;
  }

  #answer(body: Uint8Array): Uint8Array {
    const { call, fields } = decodeRequest(body);
    this.observe(call, fields);
    const handle = (this.overrides[call] ?? this.#handlers[call]) as ((fields: unknown) => object) | undefined;
    return replyFrame(call, handle?.(fields) ?? {});
  }

  readonly #handlers: Handlers = {
    info: () => ({
      appVersion: 1n,
      lastBlockHeight: BigInt(this.disk.height),
      lastBlockAppHash: Buffer.from(this.disk.appHash, "hex"),
    }),
    initChain: () => {
      this.calls.push("initChain");
      this.disk.height = 0;
      this.disk.appHash = hashOf("genesis");
      return { appHash: Buffer.from(this.disk.appHash, "hex") };
    },
    prepareProposal: ({ height }) => {
      this.calls.push(`prepareProposal ${height}`);
      return { txs: [Buffer.from(`block ${height}`), ...this.pending] };
    },
    processProposal: ({ height, txs }) => {
      this.calls.push(`processProposal ${height}`);
      return { status: Buffer.from(txs[0] ?? []).toString() === `block ${height}` ? 1 : 2 };
    },
    finalizeBlock: (request) => {
      const height = Number(request.height);
      this.calls.push(`finalizeBlock ${height}`);
      this.finalized.set(height, request);
      const digits = Buffer.from(request.hash).toString("hex");
      const appHash = hashOf(`${this.disk.appHash}/${height}/${digits}`);
      this.#next = { height, appHash };
      const empty = new Uint8Array();
      return {
        appHash: Buffer.from(appHash, "hex"),
        validatorUpdates: this.updates.get(height) ?? [],
        txResults: request.txs.map(() => ({
          code: 0,
          data: empty,
          log: "",
          info: "",
          gasWanted: 0n,
          gasUsed: 0n,
          events: [],
          codespace: "",
        })),
      };
    },
    commit: () => {
      const { height, appHash } = this.#next!;
      this.calls.push(`commit ${height}`);
      this.disk.height = height;
      this.disk.appHash = appHash;
      this.#next = undefined;
      const included = new Set(this.finalized.get(height)!.txs.map((tx) => Buffer.from(tx).toString("hex")));
      this.pending = this.pending.filter((tx) => !included.has(Buffer.from(tx).toString("hex")));
      this.#reaped = 0;
      if (height % this.snapshotInterval === 0) this.snapshots.set(height, appHash);
      return {};
    },
    listSnapshots: () => {
      return {
        snapshots: [...this.snapshots].map(([height, appHash]) => ({
          height: BigInt(height),
          format: 1,
          chunks: SNAPSHOT_CHUNKS,
          hash: Buffer.from(hashOf(appHash), "hex"),
          metadata: new Uint8Array(),
        })),
      };
    },
    loadSnapshotChunk: ({ height, chunk }) => {
      const appHash = this.snapshots.get(Number(height)) ?? "";
      return { chunk: Buffer.from(appHash.slice(chunk * CHUNK_DIGITS, (chunk + 1) * CHUNK_DIGITS)) };
    },
    offerSnapshot: ({ snapshot, appHash }) => {
      const { height, hash } = snapshot!;
      this.calls.push(`offerSnapshot ${height}`);
      const isReal = Buffer.from(hash).toString("hex") === hashOf(Buffer.from(appHash).toString("hex"));
      if (!isReal) return { result: REJECT_OFFER };
      this.#restoring = { height: Number(height), hash: Uint8Array.from(appHash), chunks: [] };
      return { result: 1 };
    },
    applySnapshotChunk: ({ index, chunk, sender }) => {
      this.calls.push(`applySnapshotChunk ${index}`);
      const { height, hash, chunks } = this.#restoring!;
      const digits = Buffer.from(hash).toString("hex");
      const expected = digits.slice(index * CHUNK_DIGITS, (index + 1) * CHUNK_DIGITS);
      if (Buffer.from(chunk).toString() !== expected) {
        return { result: RETRY_CHUNK, refetchChunks: [index], rejectSenders: [sender] };
      }
      chunks[index] = Uint8Array.from(chunk);
      if (chunks.filter(Boolean).length === SNAPSHOT_CHUNKS) Object.assign(this.disk, { height, appHash: digits });
      return { result: 1 };
    },
    insertTx: ({ tx }) => {
      this.inserted.push(Uint8Array.from(tx));
      return { code: 0 };
    },
    reapTxs: () => {
      const txs = this.pending.slice(this.#reaped);
      this.#reaped = this.pending.length;
      return { txs };
    },
  };
}

const SNAPSHOT_CHUNKS = 4;
const CHUNK_DIGITS = 16;
const REJECT_OFFER = 3;
const RETRY_CHUNK = 3;

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
