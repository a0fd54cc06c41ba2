import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { UnknownNamespaceError } from "../node/adapters/rpc-endpoints.ts";
import { LogCorruptionError } from "../store/storage/log/log-reader.ts";
import { describeError, exitCodeOf, portOwner } from "./errors.ts";

const skip = process.platform !== "linux" && "only Linux shows who listens";

test("portOwner names the process that listens on a port, and nobody on a free one", {
  skip,
}, async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.deepEqual(portOwner(port), { pid: process.pid, name: `node (process ${process.pid})` });
  server.close();
  await once(server, "close");
  assert.equal(portOwner(port), undefined);
});

test("describeError says what to do about a folder that cannot be made", () => {
  const denied = (syscall: string) => Object.assign(new Error("denied"), { code: "EACCES", syscall });
  assert.match(describeError(denied("mkdir")), /install -d/);
  assert.doesNotMatch(describeError(denied("open")), /install -d/);
});

test("an unknown namespace is an error of use, which lists those that there are", () => {
  const error = new UnknownNamespaceError("ethh", ["eth", "net"]);
  assert.equal(exitCodeOf(error), 2);
  assert.match(describeError(error), /did you mean "eth"\?; known: eth, net, or all$/);
});

test("a damaged log names what to restore, and what to do without a copy", () => {
  const text = describeError(new LogCorruptionError({ position: 17, reason: "damaged record" }));
  assert.match(text, /position 17/);
  assert.match(text, /restore data\/log\//);
  assert.match(text, /move data\/ away/);
});
