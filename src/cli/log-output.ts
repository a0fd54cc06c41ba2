import type { Writable } from "node:stream";

/**
 * Bytes that may wait for a reader of the log. A pipe whose reader stops buffers 64 KiB; later writes wait in this process.
 */
export const LOG_OUTPUT_LIMITS = { waitingBytesMax: 1 << 20 } as const;

/**
 * Writes lines of the log to `output` without waiting for its reader: while too much waits, lines are dropped. A reader that has gone is no
 * fault of the node.
 * @param onDropped called with the number of lines that were dropped, once there is room
 */
export function createLogOutput(output: Writable, onDropped: (lines: number) => void): (text: string) => void {
  let dropped = 0;
  let isGone = false;
  output.on("error", () => {
    isGone = true;
  });
  return (text) => {
    if (isGone) return;
    if (output.writableLength + text.length > LOG_OUTPUT_LIMITS.waitingBytesMax) {
      dropped += text.split("\n").length - 1;
      return;
    }
    const lines = dropped;
    dropped = 0;
    if (lines > 0) onDropped(lines);
    output.write(text);
  };
}
