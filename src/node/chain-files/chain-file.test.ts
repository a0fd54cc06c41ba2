import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { HANG_MS, until } from "../../../test/support/until.ts";
import { readChainFile } from "./chain-file.ts";
import { writeChainFile } from "./chain-file-io.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evmint-chain-file-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* slowly(blocks: readonly Uint8Array[]) {
  for (const block of blocks) {
    await setImmediate();
    yield block;
  }
}

const BLOCKS = [Uint8Array.of(0xc1, 1), Uint8Array.of(0xc2, 1, 2)];

for (const name of ["chain.rlp", "chain.rlp.gz"]) {
  test(`writeChainFile writes ${name}`, async () => {
    const path = join(folder, name);
    await writeChainFile(path, slowly(BLOCKS));
    const bytes = readFileSync(path);
    const plain = name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
    assert.deepEqual([...plain], [0xc1, 1, 0xc2, 1, 2]);
  });

  test(`writeChainFile leaves ${name} alone where it is there already`, async () => {
    const path = join(folder, name);
    writeFileSync(path, "mine");
    await assert.rejects(writeChainFile(path, slowly(BLOCKS)), { code: "EEXIST" });
    assert.equal(readFileSync(path, "utf8"), "mine");
  });

  test(`writeChainFile removes what it wrote to ${name} when the blocks fail`, async () => {
    const path = join(folder, name);
    async function* failing() {
      yield* slowly(BLOCKS);
      throw new Error("no block 3");
    }
    await assert.rejects(writeChainFile(path, failing()), /no block 3/);
    assert.deepEqual(readdirSync(folder), []);
  });
}

const skip = process.platform === "linux" ? false : "open files are listed on Linux only";

test("readChainFile closes a gzipped file of which it reads only the beginning", {
  skip,
  timeout: HANG_MS,
}, async () => {
  const path = join(folder, "chain.rlp.gz");
  // Random bytes of several read-aheads behind the first item, which is no block.
  const rest = Buffer.alloc(8 << 20);
  for (let i = 0; i < rest.length; i++) rest[i] = (i * 2_654_435_761) >>> 24;
  writeFileSync(path, gzipSync(Buffer.concat([Buffer.of(0xc1, 1), rest]), { level: 0 }));
  await assert.rejects(readChainFile(path).next(), { code: "INVALID_CHAIN_FILE" });
  await until(() => !openFiles().includes(path), "the close of the file");
});

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return [];
    }
  });
}
