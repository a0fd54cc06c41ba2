import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { portOwner } from "./errors.ts";

const skip = process.platform !== "linux" && "only Linux shows who listens";

test("portOwner names the process that listens on a port, and nobody on a free one", {
  skip,
}, async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.match(portOwner(port)!, new RegExp(`^node \\(process ${process.pid}\\)$`));
  server.close();
  await once(server, "close");
  assert.equal(portOwner(port), undefined);
});
