import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { decodeMessage, encodeMessage } from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import { Block } from "../types/block.ts";
import { fromVoteFields, type Proposal, toVoteFields, type Vote, voteForm } from "../types/vote.ts";
import { RecordFile } from "./record-file.ts";

/** What consensus received, in the order in which it acted on it. `peer` is undefined for what is its own. */
export type ConsensusMessage =
  | { readonly kind: "proposal"; readonly proposal: Proposal; readonly peer: string | undefined }
  | {
      readonly kind: "block";
      readonly height: number;
      readonly round: number;
      readonly block: Block;
      readonly peer: string | undefined;
    }
  | { readonly kind: "vote"; readonly vote: Vote; readonly peer: string | undefined }
  | { readonly kind: "timeout"; readonly height: number; readonly round: number; readonly step: number };

/** Beyond this size the file is restarted at the end of a height: earlier heights are never replayed. */
const FILE_BYTES_MAX = 1 << 20;
/** What waits to be written beyond this size is written. */
const BUFFER_BYTES_MAX = 40_960;

/**
 * The journal of the height in progress, from which consensus goes on after a restart. Own votes and proposals and the ends of heights are on disk before
 * they have an effect; messages of peers are written when there are many of them, or with the next of those.
 */
export class Wal {
  readonly #file: RecordFile;
  #buffer: Uint8Array[] = [];
  #bufferBytes = 0;
  /** Records after the last end of a height. */
  #bodies: Uint8Array[] = [];
  /** The last height that ended; undefined in a new journal. */
  #ended: number | undefined;

  /** @param data the `data` directory of a home */
  constructor(data: string) {
    const directory = join(data, "cs.wal");
    mkdirSync(directory, { recursive: true });
    this.#file = new RecordFile(join(directory, "wal"), (body) => {
      const height = endOf(body);
      if (height !== undefined) this.#end(height);
      else this.#bodies.push(body);
    });
    if (this.#file.size === 0) this.#appendEnd(0);
  }

  /** The messages after the end of `height`; undefined where the journal does not have that end as its last. */
  messagesAfter(height: number): readonly ConsensusMessage[] | undefined {
    return this.#ended === height ? this.#bodies.map(decode) : undefined;
  }

  /** Whether the end of `height` is here. */
  hasEnded(height: number): boolean {
    return this.#ended === height;
  }

  /** Nothing is replayed any more. */
  forgetMessages(): void {
    this.#bodies = [];
  }

  write(message: ConsensusMessage): void {
    const body = encode(message);
    this.#buffer.push(body);
    this.#bufferBytes += body.length;
    if (this.#bufferBytes > BUFFER_BYTES_MAX) this.flush();
  }

  /** Durable when it returns, with all before it. */
  writeSync(message: ConsensusMessage): void {
    this.write(message);
    this.sync();
  }

  /** Durable when it returns. */
  endHeight(height: number): void {
    if (this.#file.size > FILE_BYTES_MAX) {
      this.#buffer = [];
      this.#bufferBytes = 0;
      this.#file.replace([encodeEnd(height)]);
    } else this.#appendEnd(height);
    this.#end(height);
  }

  flush(): void {
    if (this.#buffer.length === 0) return;
    this.#file.append(...this.#buffer);
    this.#buffer = [];
    this.#bufferBytes = 0;
  }

  sync(): void {
    this.flush();
    this.#file.sync();
  }

  #appendEnd(height: number): void {
    this.#buffer.push(encodeEnd(height));
    this.sync();
    this.#end(height);
  }

  #end(height: number): void {
    this.#ended = height;
    this.#bodies = [];
  }
}

/** First bytes of records with a special form; all others are JSON, which begins with a brace. */
const VOTE = 1;
const BLOCK = 2;
/** The height in 8 bytes follows. */
const END = 3;

type BlockHead = { readonly height: number; readonly round: number; readonly peer: string | null };

function encodeEnd(height: number): Uint8Array {
  const body = Buffer.alloc(9);
  body[0] = END;
  body.writeDoubleLE(height, 1);
  return body;
}

/** The height whose end a record is; undefined for any other record. */
function endOf(body: Uint8Array): number | undefined {
  return body[0] === END ? Buffer.from(body).readDoubleLE(1) : undefined;
}

function encode(record: ConsensusMessage): Uint8Array {
  if (record.kind === "vote") {
    const { vote, peer = "" } = record;
    return Buffer.concat([
      Uint8Array.of(VOTE, peer.length),
      Buffer.from(peer),
      encodeMessage(voteForm, toVoteFields(vote)),
    ]);
  }
  if (record.kind === "block") {
    const { height, round, block, peer = null } = record;
    const head = Buffer.from(JSON.stringify({ height, round, peer } satisfies BlockHead));
    return Buffer.concat([Uint8Array.of(BLOCK, head.length), head, block.bytes]);
  }
  return Buffer.from(JSON.stringify(record, (_, value) => (typeof value === "bigint" ? `${value}n` : value)));
}

function decode(body: Uint8Array): ConsensusMessage {
  const headEnd = 2 + (body[1] ?? 0);
  if (body[0] === VOTE) {
    const peer = Buffer.from(body.subarray(2, headEnd)).toString("utf8") || undefined;
    return { kind: "vote", peer, vote: fromVoteFields(decodeMessage(voteForm, body.subarray(headEnd))) };
  }
  if (body[0] === BLOCK) {
    const { height, round, peer } = JSON.parse(Buffer.from(body.subarray(2, headEnd)).toString("utf8")) as BlockHead;
    const block = Block.decode(Uint8Array.from(body.subarray(headEnd)));
    return { kind: "block", height, round, block, peer: peer ?? undefined };
  }
  const text = Buffer.from(body).toString("utf8");
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as ConsensusMessage;
}
