import { connect, type Socket } from "node:net";

/** A TCP connection, or one to a socket file, on which a test writes and reads bytes as it likes. */
export type RawSocket = {
  readonly socket: Socket;
  /** What came so far, a character a byte. */
  received(): string;
  /** Resolves with everything that came once the other side has closed, however it did. */
  readonly closed: Promise<string>;
  /** Resolves once `text` has come. @throws when the connection closes before */
  until(text: string): Promise<string>;
};

/** @param target a URL, or the path of a socket file */
export async function openRaw(target: string): Promise<RawSocket> {
  const socket = target.startsWith("/")
    ? connect(target)
    : connect(Number(new URL(target).port), new URL(target).hostname);
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += chunk;
  });
  // A connection that is cut may tell so by an error; "close" follows.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    socket,
    received: () => text,
    closed,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => text.includes(wanted) && resolve(text);
        socket.on("data", look);
        socket.once("close", () => reject(new Error(`closed before ${wanted}: ${text}`)));
        look();
      }),
  };
}

/** A POST of `body`, to the letter. */
export function rawPost(body: string, headers = ""): string {
  return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
