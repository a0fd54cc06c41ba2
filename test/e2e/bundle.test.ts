import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAddress } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { encodePooledTransaction } from "../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { spawnEvmintd } from "../support/evmintd.ts";

const BUNDLE = fileURLToPath(new URL("../../dist/bundle/", import.meta.url));

describe("the code cache of a bundle", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "evmint-bundle-"));
    copyFileSync(join(BUNDLE, "load-bundle.js"), join(folder, "load-bundle.mjs"));
    writeProgram("first");
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Of one length for names of one length, so that V8 alone would take the cache of another. */
  function writeProgram(name: string): void {
    const source = `(function (exports) { exports.name = () => "${name}"; exports.name(); })\n`;
    writeFileSync(join(folder, "evmint.cjs"), source);
  }

  /** What the bundle gives, loaded by a new process, which stores its code. */
  function run(...flags: readonly string[]): string {
    const program = `
      import { loadBundle } from "${join(folder, "load-bundle.mjs")}";
      const { exports, saveCodeCache } = loadBundle();
      console.log(exports.name());
      saveCodeCache();`;
    const options = [...flags, "--input-type=module", "--eval", program];
    const env = { PATH: process.env["PATH"] };
    return execFileSync(process.execPath, options, { encoding: "utf8", env }).trim();
  }

  const cachePath = () => {
    const names = readdirSync(folder).filter((name) => name.endsWith(".cache"));
    assert.equal(names.length, 1);
    return join(folder, names[0]!);
  };

  test("is stored by the first process and stays as it is while it is accepted", () => {
    assert.equal(run(), "first");
    const stored = readFileSync(cachePath());
    assert.equal(run(), "first");
    assert.deepEqual(readFileSync(cachePath()), stored);
  });

  test("is left to processes with the same flags of V8: one with others stores its own", () => {
    const path = cachePath();
    const stored = readFileSync(path);
    assert.equal(run("--no-opt"), "first");
    const others = readdirSync(folder).filter((name) => name.endsWith(".cache") && join(folder, name) !== path);
    assert.equal(others.length, 1);
    assert.deepEqual(readFileSync(path), stored);
    rmSync(join(folder, others[0]!));
  });

  test("is not stored by a process that changed a flag of V8: the next start would reject it", () => {
    const path = cachePath();
    rmSync(path);
    const program = `
      import { setFlagsFromString } from "node:v8";
      import { loadBundle } from "${join(folder, "load-bundle.mjs")}";
      const { saveCodeCache } = loadBundle();
      setFlagsFromString("--heap-growing-percent=20");
      saveCodeCache();`;
    execFileSync(process.execPath, ["--input-type=module", "--eval", program], { env: { PATH: process.env["PATH"] } });
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith(".cache")),
      [],
    );
    assert.equal(run(), "first");
  });

  test("is not used for another source of the same length", () => {
    writeProgram("other");
    assert.equal(run(), "other");
  });

  test("is not used when a byte of it changed, and is stored anew", () => {
    const whole = readFileSync(cachePath());
    for (const at of [0, 40, whole.length >> 1, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 0x10;
      writeFileSync(cachePath(), damaged);
      assert.equal(run(), "other");
      assert.notDeepEqual(readFileSync(cachePath()), damaged);
    }
    writeFileSync(cachePath(), whole.subarray(0, 20));
    assert.equal(run(), "other");
  });
});

test("the bundle has the interpreters of a new chain, which are emitted at run time where its build left them out", () => {
  const bundle = readFileSync(join(BUNDLE, "evmint.cjs"), "latin1");
  const [, sizes = "{}"] = /"?sizes"?:(\{"osaka fast":[^}]*\})/.exec(bundle) ?? [];
  assert.deepEqual(Object.keys(JSON.parse(sizes)), ["osaka fast", "osaka perOpcode", "osaka perAccess"]);
});

test("evmintd anvil stores its code when a signal has stopped it, and none where it printed a text or failed", async (context) => {
  // Beside the bundle, whose packages it finds there.
  const copy = mkdtempSync(join(BUNDLE, "..", "copy-"));
  context.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of readdirSync(BUNDLE)) {
    if (!/\.(?:cache|map)$/.test(name)) copyFileSync(join(BUNDLE, name), join(copy, name));
  }
  const caches = () => readdirSync(copy).filter((name) => name.endsWith(".cache")).length;
  const run = (...args: string[]) => spawnEvmintd(["anvil", ...args], [], process.execPath, join(copy, "evmintd.cjs"));
  assert.equal(await run("--version").exited, 0);
  assert.equal(await run("--nope").exited, 2);
  assert.equal(caches(), 0);
  const { child, exited, output } = run("--port", "0");
  while (!output.stdout.includes("Listening on")) await once(child.stdout!, "data");
  child.kill("SIGINT");
  assert.equal(await exited, 0);
  assert.equal(caches(), 1);
});

test("the build ran its node once and stored code that the next start accepts", () => {
  // Of a process with V8's defaults, which this one does not have.
  const tagOf = "require('node:v8').cachedDataVersionTag().toString(16)";
  const tag = execFileSync(process.execPath, ["--print", tagOf], { encoding: "utf8" }).trim();
  const end = `${process.version}-${process.arch}-${tag}.cache`;
  const name = readdirSync(BUNDLE).find((each) => each.endsWith(end))!;
  const before = readFileSync(join(BUNDLE, name));
  const program = `
    import { loadBundle } from "${join(BUNDLE, "load-bundle.js")}";
    loadBundle().saveCodeCache();`;
  const env = { PATH: process.env["PATH"] };
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { env });
  assert.ok(readFileSync(join(BUNDLE, name)).equals(before));
});

test("threads of the bundled node execute calls", async () => {
  const program = `
    import { createNode } from "${join(BUNDLE, "library.js")}";
    const settings = {
      "json-rpc.enable": "true",
      "json-rpc.address": "127.0.0.1:0",
      "json-rpc.ws-address": "127.0.0.1:0",
      "json-rpc.workers": "1",
    };
    const node = await createNode({ settings });
    const url = node.urls.find((each) => each.startsWith("http"));
    // PUSH1 7 PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
    const params = [{ data: "0x60075f5260205ff3" }, "latest"];
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params }),
    });
    const { result, error } = await response.json();
    console.log(result ?? error.message);
    await node.stop();`;
  const env = { PATH: process.env["PATH"] };
  const options = ["--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, options, { encoding: "utf8", env }).trim();
  assert.equal(BigInt(output), 7n);
});

test("the bundled node on disk loads the addon of LMDB and none of its JavaScript from outside the bundle", (context) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-bundle-home-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const program = `
    import { createRequire } from "node:module";
    import { createNode } from "${join(BUNDLE, "library.js")}";
    const node = await createNode({ home: ${JSON.stringify(home)} });
    await node.mine();
    await node.stop();
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const env = { PATH: process.env["PATH"] };
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8", env });
  const files = JSON.parse(output) as readonly string[];
  assert.ok(files.some((file) => /[\\/]@lmdb[\\/].*\.node$/.test(file)));
  const lmdb =
    /node_modules[\\/](?:lmdb|msgpackr|ordered-binary|weak-lru-cache|node-gyp-build-optional-packages)[\\/].*js$/;
  assert.deepEqual(
    files.filter((file) => lmdb.test(file)),
    [],
  );
});

test("code from the cache imports nothing, since it cannot on each version of Node.js", () => {
  const source = readFileSync(join(BUNDLE, "evmint.cjs"), "latin1");
  // Those of texts and of functions that are compiled when they are needed are in template strings or take a variable.
  assert.deepEqual(source.match(/(?<!`)\bimport\("[^"$]*"\)/g), null);
});

test("the bundled node makes the proofs that a blob transaction of before Osaka lacks, from the code cache too", async () => {
  const commitment = new Uint8Array(48).fill(0xc0, 0, 1);
  const versionedHash = createHash("sha256").update(commitment).digest("hex").replace(/^../, "01");
  const tx = signTransaction(
    {
      type: 3,
      chainId: 31337n,
      nonce: 0n,
      to: parseAddress(DEV_ADDRESSES[1]),
      value: 0n,
      gasLimit: 21_000n,
      data: new Uint8Array(0),
      accessList: [],
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      maxFeePerBlobGas: 10n ** 10n,
      blobVersionedHashes: [`0x${versionedHash}` as Hash],
    },
    hexToBytes(DEV_KEYS[0]),
  );
  const raw = encodePooledTransaction(tx, {
    wrapperVersion: 0,
    blobs: [new Uint8Array(131_072)],
    commitments: [commitment],
    proofs: [commitment],
  });
  const program = `
    import { readFileSync } from "node:fs";
    import { createNode } from "${join(BUNDLE, "library.js")}";
    const node = await createNode();
    const raw = readFileSync(0, "utf8");
    const send = () => node.provider.request({ method: "eth_sendRawTransaction", params: [raw] });
    console.log(await send().catch((error) => error.message));
    await node.stop();`;
  const env = { PATH: process.env["PATH"] };
  for (let start = 0; start < 2; start++) {
    const options = { encoding: "utf8", env, input: bytesToHex(raw) } as const;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], options);
    assert.equal(output.trim(), tx.hash);
  }
});
