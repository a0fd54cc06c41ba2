import { NodeError } from "../../errors.ts";

/** Longest path of a unix socket that Linux takes (sun_path less its terminator). */
const SOCKET_PATH_BYTES_MAX = 107;

/** The operating system takes no unix socket at this path. */
export class SocketPathTooLongError extends NodeError {
  readonly code = "ABCI_SOCKET_PATH_TOO_LONG";
  constructor(path: string) {
    super(
      `the path of a unix socket has at most ${SOCKET_PATH_BYTES_MAX} bytes, choose a shorter home: ${path}`,
      { path },
    );
  }
}

/** @throws SocketPathTooLongError */
export function assertSocketPath(path: string): void {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) throw new SocketPathTooLongError(path);
}
