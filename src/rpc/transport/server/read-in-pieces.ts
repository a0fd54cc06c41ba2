import type { Duplex } from "node:stream";

/** Forty of the smallest requests of HTTP, one to four usual ones. */
const PIECE_BYTES = 1024;

export type PiecewiseReading = {
  /** The next `bytes` belong to one message and are not cut. @param isAlone nothing is read in one piece with them */
  expect(bytes: number, isAlone?: boolean): void;
  /** Has `bytes` read again before everything else. */
  unread(bytes: Buffer): void;
  /** Pauses the socket until `release`: node:http resumes it whenever somebody reads a body. */
  hold(): void;
  readonly isHeld: boolean;
  release(): void;
  /** From now on the socket emits data as it arrives. */
  stop(): void;
};

/**
 * Makes `socket` emit what it reads in pieces, so that a listener that pauses it gets no more than one. A parser takes all it is
 * given: a read of 64 KB can hold 2,000 requests of HTTP or 10,000 frames, which become objects before the first is answered.
 *
 * @param onRead is called before the first piece of each read
 */
export function readInPieces(socket: Duplex, onRead: () => void = () => {}): PiecewiseReading {
  const { push, resume } = socket;
  let expected = 0;
  let isExpectedAlone = false;
  let isHeld = false;

  function* piecesOf(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; ) {
      const pieceBytes = isExpectedAlone && expected > 0 ? expected : Math.max(PIECE_BYTES, expected);
      const piece = bytes.subarray(at, at + pieceBytes);
      at += piece.length;
      expected = Math.max(0, expected - piece.length);
      yield piece;
    }
  }

  socket.push = (bytes: Buffer | null) => {
    if (bytes === null) return push.call(socket, null);
    onRead();
    let wantsMore = true;
    for (const piece of piecesOf(bytes)) wantsMore = push.call(socket, piece);
    return wantsMore;
  };
  function release(): void {
    if (!isHeld) return;
    isHeld = false;
    socket.resume();
  }

  socket.resume = () => (isHeld ? socket : resume.call(socket));
  return {
    expect(bytes, isAlone = false) {
      expected = bytes;
      isExpectedAlone = isAlone;
    },
    unread(bytes) {
      socket.pause();
      for (const piece of [...piecesOf(bytes)].reverse()) socket.unshift(piece);
      socket.resume();
    },
    hold() {
      isHeld = true;
      socket.pause();
    },
    get isHeld() {
      return isHeld;
    },
    release,
    stop() {
      release();
      Object.assign(socket, { push, resume });
    },
  };
}
