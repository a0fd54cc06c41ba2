import { createServer } from "node:net";

/** A port that nobody listens on, for a program that cannot say which one it was given. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
