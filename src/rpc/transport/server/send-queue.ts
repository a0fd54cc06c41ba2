import type { Duplex } from "node:stream";

/** Buffers that go out together: nothing else is written to the socket between them. */
export type Piece = readonly Uint8Array[];

type Message = { readonly pieces: Piece[]; readonly written: (() => void) | undefined };

/** Small compared with the system's buffer of a connection, large compared with the cost of a write. */
const PIECE_BYTES = 256 * 1024;

/**
 * Messages too large for the buffer of a socket. A piece is written once the client has read most of those before it, and its memory
 * is free as soon as the system has accepted it.
 */
export class SendQueue {
  readonly #socket: Duplex;
  readonly #roomBytes: number;
  readonly #onSent: () => void;
  readonly #messages: Message[] = [];
  #bytes = 0;

  /**
   * @param roomBytes unsent bytes of the socket from which on pieces wait
   * @param onSent runs whenever the system has accepted a piece
   */
  constructor(socket: Duplex, roomBytes: number, onSent: () => void) {
    this.#socket = socket;
    this.#roomBytes = roomBytes;
    this.#onSent = onSent;
  }

  /** False if a write to the socket would land in the middle of a message. */
  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** Bytes that wait for the client, in the socket's buffer or here. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#bytes;
  }

  /** @param written runs once the system has accepted the last piece */
  push(pieces: Piece[], written?: () => void): void {
    this.#messages.push({ pieces, written });
    for (const piece of pieces) this.#bytes += lengthOf(piece);
    this.#write();
  }

  /** Nothing more is to be sent. */
  clear(): void {
    this.#messages.length = 0;
    this.#bytes = 0;
  }

  readonly #write = (): void => {
    const socket = this.#socket;
    for (;;) {
      const message = this.#messages[0];
      if (message === undefined || socket.writableLength >= this.#roomBytes) return;
      const piece = message.pieces.shift()!;
      const isLast = message.pieces.length === 0;
      if (isLast) this.#messages.shift();
      this.#bytes -= lengthOf(piece);
      const written = () => {
        if (isLast) message.written?.();
        this.#onSent();
        this.#write();
      };
      socket.cork();
      for (const buffer of piece.slice(0, -1)) socket.write(buffer);
      socket.write(piece.at(-1)!, written);
      socket.uncork();
    }
  };
}

/** The parts of a message, in pieces of at most `PIECE_BYTES`. */
export function piecesOf(parts: readonly (string | Uint8Array)[]): Piece[] {
  const pieces: Piece[] = [];
  let piece: Uint8Array[] = [];
  let room = PIECE_BYTES;
  for (const part of parts) {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + room);
      piece.push(taken);
      at += taken.length;
      room -= taken.length;
      if (room > 0) continue;
      pieces.push(piece);
      piece = [];
      room = PIECE_BYTES;
    }
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

export function lengthOf(piece: Piece): number {
  return piece.reduce((sum, { length }) => sum + length, 0);
}
