import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { HOSTILE_CONTENTS, HOSTILE_FILES } from "../../../test/support/store/storage/hostile-files.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { createNode } from "../../index.ts";
import { loadConfig } from "../config/load.ts";
import { openChain } from "../roles/chain/open-chain.ts";
import { createBackup } from "./backup.ts";
import { digestOf, readManifest } from "./manifest.ts";
import { restoreBackup } from "./restore.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-backup-"));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A path that nothing has. */
const fresh = (name: string) => join(folder, `${name}-${count++}`);
const now = () => 1_700_000_000_000;
const onProgress = () => {};

const configOf = (home: string) => loadConfig({ home, dev: true, flags: {}, environment: {} }).config;

function backUp(home: string, directory: string, failPoint?: (name: string) => void) {
  return createBackup({ home, directory, hasKeys: true, onProgress, now, ...(failPoint && { failPoint }) });
}

function restoreTo(home: string | undefined, directory: string) {
  return restoreBackup({ directory, home, onProgress, now });
}

/** The head of the chain in a home, after the index was made from its log. */
function headOf(home: string) {
  const { chain, store } = openChain(configOf(home), { log: STRICT_LOGGER, timers: fatalTimers });
  try {
    const { header, hash } = chain.head().block;
    return { number: header.number, hash };
  } finally {
    store.close();
  }
}

/** A home whose chain has so many blocks after the genesis. */
async function homeWith(blocks: number): Promise<string> {
  const home = fresh("home");
  const node = await createNode({ home });
  for (let i = 0; i < blocks; i++) await node.mine();
  await node.stop();
  mkdirSync(join(home, "keystore"), { recursive: true });
  writeFileSync(join(home, "keystore", "a-key"), "secret", { mode: 0o600 });
  return home;
}

function rollBack(home: string, number: number): void {
  const { chain, store } = openChain(configOf(home), { log: STRICT_LOGGER, timers: fatalTimers });
  chain.rollbackTo(number);
  store.close();
}

describe("createBackup", () => {
  test("copies a running node, then only what is new, and restoreBackup makes a home of it", async () => {
    const home = fresh("home");
    const directory = fresh("backup");
    const node = await createNode({ home });
    for (let i = 0; i < 20; i++) await node.mine();
    const first = await backUp(home, directory);
    assert.equal(first.head.number, 20);
    await node.mine();
    const second = await backUp(home, directory);
    assert.equal(second.head.number, 21);
    assert.ok(second.copiedBytes > 0 && second.copiedBytes < first.copiedBytes / 5, `${second.copiedBytes}`);
    assert.equal((await backUp(home, directory)).copiedBytes, 0);
    await node.stop();

    const restored = fresh("restored");
    const result = await restoreTo(restored, directory);
    assert.deepEqual(result.head, second.head);
    assert.equal(result.createdAt, "2023-11-14T22:13:20.000Z");
    assert.deepEqual(headOf(restored), headOf(home));
    assert.equal(statSync(join(restored, "config")).mode & 0o777, 0o700);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
  });

  test("leaves keys out where it is asked to", async () => {
    const home = await homeWith(1);
    const [withKeys, without] = [fresh("backup"), fresh("backup")];
    await backUp(home, withKeys);
    await createBackup({ home, directory: without, hasKeys: false, onProgress, now });
    const paths = (directory: string) => readManifest(directory).files.map(({ path }) => path);
    assert.ok(paths(withKeys).includes("keystore/a-key"));
    assert.ok(paths(withKeys).includes("config/jwt.hex"));
    assert.ok(!paths(without).some((path) => /keystore|hex/.test(path)), paths(without).join());
    assert.ok(paths(without).includes("config/dev-genesis.json"));
    for (const name of readdirSync(join(withKeys, "files"))) {
      assert.equal(statSync(join(withKeys, "files", name)).mode & 0o777, 0o600);
    }
  });

  test("begins a segment anew where the chain was rolled back, and has the chain as it is then", async () => {
    const home = await homeWith(10);
    const directory = fresh("backup");
    await backUp(home, directory);
    rollBack(home, 4);
    assert.equal((await backUp(home, directory)).head.number, 4);
    const node = await createNode({ home });
    for (let i = 0; i < 8; i++) await node.mine();
    await node.stop();
    await backUp(home, directory);
    const restored = fresh("restored");
    await restoreTo(restored, directory);
    assert.deepEqual(headOf(restored), headOf(home));
    assert.equal(headOf(restored).number, 12);
    assert.equal(readdirSync(join(directory, "log")).length, 1);
  });

  for (const point of ["backup:log", "backup:files", "backup:manifest", "backup:unused"]) {
    test(`leaves a whole backup where it dies at ${point}`, async () => {
      const home = await homeWith(5);
      const directory = fresh("backup");
      const before = await backUp(home, directory);
      rollBack(home, 3);
      const node = await createNode({ home });
      for (let i = 0; i < 4; i++) await node.mine();
      await node.stop();
      writeFileSync(join(home, "config", "app.toml"), "# changed\n");
      const dies = (name: string) => {
        if (name === point) throw new Error("dies");
      };
      await assert.rejects(backUp(home, directory, dies), { message: "dies" });
      const restored = fresh("restored");
      const { head } = await restoreTo(restored, directory);
      assert.deepEqual(head, point === "backup:unused" ? headOf(home) : before.head);
      assert.deepEqual(headOf(restored), head);
      const again = await backUp(home, directory);
      assert.deepEqual(again.head, headOf(home));
      await restoreTo(undefined, directory);
    });
  }

  test("does not copy the beginning of a record that the node is writing, and names damage before a whole one", async () => {
    const home = await homeWith(3);
    const log = join(home, "data", "log");
    const [name] = readdirSync(log) as [string];
    const whole = readFileSync(join(log, name));
    appendFileSync(join(log, name), whole.subarray(24, 60));
    const { head } = await backUp(home, fresh("backup"));
    assert.equal(head.number, 3);
    const damaged = Buffer.from(whole);
    damaged[200]! ^= 1;
    writeFileSync(join(log, name), damaged);
    await assert.rejects(backUp(home, fresh("backup")), { code: "BACKUP_LOG_MOVED" });
  });

  test("refuses another chain's backup, and a folder that is none", async () => {
    const home = await homeWith(1);
    const directory = fresh("backup");
    mkdirSync(directory);
    writeFileSync(join(directory, "thesis.tex"), "");
    await assert.rejects(backUp(home, directory), { code: "BACKUP_FOREIGN" });
    await assert.rejects(backUp(fresh("none"), fresh("backup")), { code: "BACKUP_NOTHING" });
    const genesis = (chainId: number) =>
      JSON.stringify({ config: { chainId }, alloc: {}, difficulty: "0x0", gasLimit: `${chainId}` });
    const other = fresh("backup");
    writeFileSync(join(home, "config", "genesis.json"), genesis(10_000));
    await backUp(home, other);
    writeFileSync(join(home, "config", "genesis.json"), genesis(20_000));
    await assert.rejects(backUp(home, other), { code: "BACKUP_FOREIGN" });
  });
});

describe("restoreBackup", () => {
  test("refuses a home that is not empty, and does an interrupted restore again", async () => {
    const home = await homeWith(2);
    const directory = fresh("backup");
    await backUp(home, directory);
    await assert.rejects(restoreTo(home, directory), { code: "RESTORE_HOME_NOT_EMPTY" });
    const restored = fresh("restored");
    mkdirSync(join(restored, "data", "log"), { recursive: true });
    writeFileSync(join(restored, "restore-unfinished"), "");
    writeFileSync(join(restored, "data", "log", "0000000000000000.log"), "half of it");
    await restoreTo(restored, directory);
    assert.deepEqual(headOf(restored), headOf(home));
    assert.ok(!readdirSync(restored).includes("restore-unfinished"));
  });

  test("finds each changed, cut or missing file before the folder is a home", async () => {
    const home = await homeWith(2);
    const directory = fresh("backup");
    await backUp(home, directory);
    const files = [
      "manifest.json",
      ...readdirSync(join(directory, "log")).map((name) => join("log", name)),
      ...readdirSync(join(directory, "files")).map((name) => join("files", name)),
    ];
    for (const file of files) {
      for (const damage of [
        (path: string) => rmSync(path),
        (path: string) => writeFileSync(path, readFileSync(path).subarray(0, -3)),
        (path: string) => {
          const bytes = readFileSync(path);
          bytes[bytes.length >> 1]! ^= 1;
          writeFileSync(path, bytes);
        },
      ]) {
        const copy = fresh("backup");
        cpSync(directory, copy, { recursive: true });
        damage(join(copy, file));
        await assert.rejects(restoreTo(undefined, copy), { code: "BACKUP_DAMAGED" }, file);
        const restored = fresh("restored");
        await assert.rejects(restoreTo(restored, copy), { code: "BACKUP_DAMAGED" }, file);
      }
    }
  });

  test("refuses a manifest with a right digest that no backup has", async () => {
    const home = await homeWith(3);
    const directory = fresh("backup");
    await backUp(home, directory);
    const path = join(directory, "manifest.json");
    const { sha256: _, ...manifest } = JSON.parse(readFileSync(path, "utf8"));
    const [file, ...files] = manifest.files;
    const [segment] = manifest.log;
    const hash = `0x${"00".repeat(32)}`;
    const changes: Readonly<Record<string, object>> = {
      ...Object.fromEntries(
        [
          "../x",
          "/etc/x",
          "a/../../x",
          "a//b",
          ".",
          "",
          "x",
          "data/log/0000000000000000.log",
          "cometbft/config/config.toml",
        ].map((bad) => [`file ${bad}`, { files: [{ ...file, path: bad }, ...files] }]),
      ),
      "a file below a file": { files: [...manifest.files, { ...file, path: `${files[0].path}/x` }] },
      "two files of one path": { files: [...manifest.files, file] },
      "a file of the log": { files: [{ ...file, stored: segment.stored }, ...files] },
      "a file of 2 GiB": { files: [{ ...file, bytes: 2 ** 31 }, ...files] },
      "a segment in a folder": { log: [{ ...segment, name: "a/b/c" }] },
      "a segment that is none": { log: [{ ...segment, name: "lock" }] },
      "a segment twice": { log: [segment, segment] },
      "a segment at another place": { log: [{ ...segment, name: "0000000000000001.log" }] },
      "a state that is none": { states: [{ ...segment, number: 1 }] },
      "no such file": { log: [{ ...segment, stored: "log/none" }] },
      "a longer file": { log: [{ ...segment, bytes: 2 ** 50 }] },
      "another head": { head: { number: 99, hash } },
      "another head, also as the last block": {
        head: { number: 99, hash },
        log: [{ ...segment, tip: { number: 99, hash } }],
      },
      "another place of the last block": { log: [{ ...segment, tipAt: 24 }] },
    };
    for (const [what, change] of Object.entries(changes)) {
      const changed = { ...manifest, ...change };
      writeFileSync(path, JSON.stringify({ ...changed, sha256: digestOf(changed) }));
      await assert.rejects(restoreTo(undefined, directory), { code: "BACKUP_DAMAGED" }, what);
      const restored = fresh("restored");
      await assert.rejects(restoreTo(restored, directory), { code: "BACKUP_DAMAGED" }, what);
      assert.ok(!existsSync(join(restored, "config")), what);
    }
  });

  test("refuses what is no file in the place of each kind of file, and waits for none", {
    skip: process.platform === "win32" && "there are no such files",
  }, async () => {
    const home = await homeWith(1);
    const directory = fresh("backup");
    await backUp(home, directory);
    const { log, files } = readManifest(directory);
    for (const stored of ["manifest.json", log[0]!.stored, files[0]!.stored]) {
      for (const [what, make] of Object.entries(HOSTILE_FILES)) {
        const copy = fresh("backup");
        cpSync(directory, copy, { recursive: true });
        rmSync(join(copy, stored));
        make(join(copy, stored));
        await assert.rejects(restoreTo(undefined, copy), { code: "BACKUP_DAMAGED" }, `${stored}: ${what}`);
        if (stored.startsWith("files")) await backUp(home, copy);
      }
      const copy = fresh("backup");
      cpSync(directory, copy, { recursive: true });
      renameSync(join(copy, stored), join(copy, "moved"));
      symlinkSync(join(copy, "moved"), join(copy, stored));
      await assert.rejects(restoreTo(undefined, copy), { code: "BACKUP_DAMAGED" }, `${stored}: a link`);
    }
    for (const content of Object.values(HOSTILE_CONTENTS)) {
      writeFileSync(join(directory, "manifest.json"), content);
      await assert.rejects(restoreTo(undefined, directory), { code: "BACKUP_DAMAGED" });
    }
  });

  test("names the files of a home that it restores", async () => {
    const home = await homeWith(1);
    const directory = fresh("backup");
    await backUp(home, directory);
    const { files } = await restoreTo(undefined, directory);
    assert.deepEqual(
      files,
      readManifest(directory).files.map(({ path }) => path),
    );
    assert.ok(files.includes("config/jwt.hex") && files.includes("keystore/a-key"), files.join());
  });
});
