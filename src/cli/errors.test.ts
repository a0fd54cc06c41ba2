import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { LogCorruptionError } from "../storage/log-reader.ts";
import { describeError, portOwner } from "./errors.ts";

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

test("describeError says what to do about a folder that cannot be made, and about a damaged log", () => {
  const denied = (syscall: string) => Object.assign(new Error("denied"), { code: "EACCES", syscall });
  assert.match(describeError(denied("mkdir")), /install -d/);
  assert.doesNotMatch(describeError(denied("open")), /install -d/);
  assert.match(describeError(new LogCorruptionError({ position: 9, reason: "damaged record" })), /evmintd db check/);
});
