import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { remoteEndpoint, remoteName } from "./fetch-remote-calls.ts";
import { forkCacheName, removeUnboundCaches } from "./fork-cache.ts";

test("an address is shown without what may be a key", () => {
  for (const [text, name] of [
    ["http://127.0.0.1:8545", "http://127.0.0.1:8545"],
    ["http://127.0.0.1:8545/", "http://127.0.0.1:8545"],
    ["https://eth.example/v3/KEY", "https://eth.example/…"],
    ["https://eth.example/?key=KEY", "https://eth.example/…"],
    ["https://user:KEY@eth.example", "https://eth.example"],
    ["https://user:KEY@[::1]:1/KEY#KEY", "https://[::1]:1/…"],
  ] as const) {
    assert.equal(remoteName(text), name);
    assert.equal(remoteEndpoint(text).name, name);
    assert.ok(!remoteEndpoint(text).url.includes("user:KEY"));
  }
  assert.ok(!remoteName("KEY").includes("KEY"));
});

test("user and password are a header, whatever letters they have", () => {
  const { headers, url } = remoteEndpoint("http://us%65r:p%C3%A4ss%zz@host/path");
  assert.equal(url, "http://host/path");
  const [scheme, token] = headers["authorization"]!.split(" ");
  assert.equal(scheme, "Basic");
  assert.ok(Buffer.from(token!, "base64").toString().startsWith("user:p"));
  assert.deepEqual(remoteEndpoint("http://host").headers, {});
});

test("what is no HTTP URL is an error without its text", () => {
  for (const text of ["KEY", "ftp://KEY", "file:///KEY", "http://", ""]) {
    assert.throws(
      () => remoteEndpoint(text),
      (error: Error & { code: string }) => {
        assert.equal(error.code, "FORK_REMOTE_FAILED");
        return !error.message.includes("KEY");
      },
    );
  }
});

test("caches of other blocks and manners of reading have other names, and those without a hash are removed", (context) => {
  const block = { chainId: 1n, number: 100, hash: hashFromBigint(5n), isVerified: true };
  const names = [
    forkCacheName(block),
    forkCacheName({ ...block, hash: hashFromBigint(6n) }),
    forkCacheName({ ...block, isVerified: false }),
  ];
  assert.equal(new Set(names).size, names.length);
  const folder = mkdtempSync(join(tmpdir(), "evmint-fork-cache-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const name of [...names, "1-100.jsonl", "31337-5.jsonl", "other.txt"]) {
    writeFileSync(join(folder, name), "");
  }
  assert.equal(removeUnboundCaches(folder), 2);
  assert.deepEqual(readdirSync(folder).sort(), [...names, "other.txt"].sort());
  assert.equal(removeUnboundCaches(join(folder, "none")), 0);
});
