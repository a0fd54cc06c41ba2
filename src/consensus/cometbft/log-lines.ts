import type { Readable } from "node:stream";

/** The longest line of CometBFT's log that matters has some hundred characters; a peer may make it log what it was sent. */
const LINE_CHARS_MAX = 64 << 10;

/** Calls `onLine` for each line of `stream`; of a longer line than `charsMax` only for its beginning. */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  charsMax = LINE_CHARS_MAX,
): void {
  let line = "";
  const append = (text: string) => {
    if (line.length < charsMax) line += text.slice(0, charsMax - line.length);
  };
  const end = () => {
    if (line !== "") onLine(line);
    line = "";
  };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const [first = "", ...lines] = chunk.split("\n");
    append(first);
    for (const next of lines) {
      end();
      append(next);
    }
  });
  stream.on("end", end);
}
