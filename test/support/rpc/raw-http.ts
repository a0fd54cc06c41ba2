import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";

/** A server that says nothing for so many turns of this process, in which it runs too, waits for more: each of its steps takes one or two. */
const SILENT_TURNS = 500;

/** Sends `pieces` one after the other over one connection; all that comes until the peer closes it or waits for more. */
export function sendPieces(url: string, pieces: readonly Buffer[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await setImmediate();
        await setImmediate();
      }
      for (silentTurns = 0; silentTurns < SILENT_TURNS && !socket.closed; silentTurns++) await setImmediate();
      socket.end();
    });
    let silentTurns = 0;
    socket.on("data", (chunk) => {
      received.push(chunk);
      silentTurns = 0;
    });
    // A refusal may come before everything was sent; what was received by then counts.
    socket.on("error", () => {});
    socket.on("close", () => {
      resolve(Buffer.concat(received).toString("latin1"));
    });
  });
}

/** `bytes` cut at each position of `cuts`. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts)].filter((cut) => cut < bytes.length).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

/** HTTP answers in a form to be compared: names in lower case and sorted, dates left out. */
export function comparable(answers: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < answers.length; ) {
    const headEnd = answers.indexOf("\r\n\r\n", at);
    if (headEnd === -1) return [...found, answers.slice(at)];
    const [status = "", ...lines] = answers.slice(at, headEnd).split("\r\n");
    const fields = lines.map((line) => {
      const colon = line.indexOf(":");
      return line.slice(0, colon).toLowerCase() + line.slice(colon);
    });
    const length = fields.find((field) => field.startsWith("content-length:"))?.slice(15);
    const end = headEnd + 4 + Number(length ?? 0);
    const kept = fields.filter((field) => !field.startsWith("date:")).sort();
    found.push([status, ...kept, answers.slice(headEnd + 4, end)].join("\n"));
    at = end;
  }
  return found;
}
