import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { type BlockParts, decodeBlockAt, encodeBlock } from "../../../src/base/types/block-codec.ts";
import { loadConfig } from "../../../src/node/config/load.ts";
import { nodeOperations } from "../../../src/node/roles/operations.ts";
import { STRICT_LOGGER } from "../../support/base/telemetry/strict-logger.ts";
import { overHttp } from "../../support/clients.ts";
import { runEvmintd, spawnEvmintd } from "../../support/evmintd.ts";
import { makeHome, transfer } from "../../support/made-chain.ts";
import { startTestNode } from "../../support/test-node.ts";

const BLOCKS = 800;
const GENESIS_TIME = 1_700_000_000;

const garbage: string[] = [];
const path = (name: string) => {
  const file = join(tmpdir(), `evmint-${process.pid}-${name}`);
  garbage.push(file);
  return file;
};
const newHome = (timestamp?: number) => {
  const home = makeHome(timestamp);
  garbage.push(home);
  return home;
};
after(() => {
  for (const each of garbage) rmSync(each, { recursive: true, force: true });
});

/** The chain all files are made of, exported. */
let source: string;
let whole: Buffer;
let blocks: BlockParts[];
before(async () => {
  source = newHome(GENESIS_TIME);
  const node = await startTestNode({
    home: source,
    settings: { "consensus.block-time": "manual" },
  });
  for (let number = 1; number <= BLOCKS; number++) {
    if (number <= 20) {
      await overHttp(node.url, "eth_sendRawTransaction", [transfer(BigInt(number - 1))]);
    }
    node.produceBlock();
  }
  await node.stop();
  const file = path("chain.rlp");
  const { code, stdout } = await runEvmintd(["export", file, "--home", source]);
  assert.deepEqual([code, JSON.parse(stdout)], [0, { exported: BLOCKS }]);
  whole = readFileSync(file);
  blocks = [];
  for (let at = 0; at < whole.length; ) {
    const { block, end } = decodeBlockAt(whole, at);
    blocks.push(block);
    at = end;
  }
});

/** Imports `bytes` into `home` in this process: the error that ended it, and the head of a store without a fault. */
async function importBytes(home: string, name: string, bytes: Uint8Array) {
  const file = path(name);
  writeFileSync(file, bytes);
  const { config } = loadConfig({ home, dev: false, flags: {}, environment: {} });
  const work = { onProgress() {}, signal: new AbortController().signal };
  const error = await nodeOperations.importChain(config, STRICT_LOGGER, { ...work, file }).then(
    () => undefined,
    (cause: Error & { code?: string }) => cause,
  );
  const { head, faults } = await nodeOperations.checkStore(config, STRICT_LOGGER, work);
  assert.deepEqual(faults, []);
  return { error, head };
}

async function headOf(home: string): Promise<number> {
  return (await importBytes(home, "nothing.rlp", new Uint8Array())).head;
}

const encoded = (from: number, to: number) => blocks.slice(from - 1, to).map(encodeBlock);

test("import of a file that is no chain, or not all of it, keeps the good blocks and tells where it stops", async () => {
  const ten = Buffer.concat(encoded(1, 10));
  const bad = { ...blocks[4]!.header, stateRoot: blocks[9]!.header.stateRoot };
  const badRoot = Buffer.concat([...encoded(1, 4), encodeBlock({ ...blocks[4]!, header: bad }), ...encoded(6, 10)]);
  const cases: readonly (readonly [string, Buffer, number, RegExp])[] = [
    ["empty.rlp", Buffer.alloc(0), 0, /^$/],
    ["text.rlp", Buffer.from("# not a chain\n"), 0, /not a block/],
    ["zeros.rlp", Buffer.alloc(1000), 0, /not a block/],
    ["endless.rlp", Buffer.from([0xff, ...Array(8).fill(0xff)]), 0, /block of \d+/],
    ["list.rlp", Buffer.from([0xc2, 0x01, 0x02]), 0, /block 0 of the file/],
    ["cut.rlp", ten.subarray(0, ten.length - 7), 9, /ends inside its block 9/],
    ["empty.gz", gzipSync(Buffer.alloc(0)), 0, /^$/],
    ["state-root.rlp", badRoot, 4, /^block 5: invalid merkle root/],
    ["gap.rlp", Buffer.concat([...encoded(1, 3), ...encoded(5, 6)]), 3, /block 5\b.*block 4\b/],
  ];
  for (const [name, bytes, expected, message] of cases) {
    const { error, head } = await importBytes(newHome(GENESIS_TIME), name, bytes);
    assert.match(error?.message ?? "", message, name);
    assert.equal(head, expected, name);
  }
  // How much of these is unpacked before the damage shows is up to zlib.
  for (const bytes of [gzipSync(ten).subarray(0, -30), damaged(gzipSync(ten))]) {
    const { error, head } = await importBytes(newHome(GENESIS_TIME), "bad.gz", bytes);
    assert.ok(error && head < 10);
  }
});

test("an import that fails ends with 1 and one line", async () => {
  const file = path("cut-short.rlp");
  writeFileSync(file, Buffer.concat(encoded(1, 10)).subarray(0, -7));
  const { code, stderr, stdout } = await runEvmintd(["import", file, "--home", newHome(GENESIS_TIME)]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(lastLine(stderr), /ends inside its block 9/);
  assert.ok(!stderr.includes("    at "), "a stack is shown");
});

test("import of another chain, or of a fork of this one, changes nothing", async () => {
  const other = newHome(GENESIS_TIME + 1);
  const stranger = await importBytes(other, "stranger.rlp", Buffer.concat(encoded(1, 10)));
  assert.deepEqual([stranger.error?.code, stranger.head], ["IMPORT_FOREIGN", 0]);

  const home = newHome(GENESIS_TIME);
  const good = await importBytes(home, "ten.rlp", Buffer.concat(encoded(1, 10)));
  assert.deepEqual([good.error, good.head], [undefined, 10]);
  const header = { ...blocks[7]!.header, extraData: Uint8Array.of(1) };
  const forked = Buffer.concat([...encoded(1, 7), encodeBlock({ ...blocks[7]!, header })]);
  const fork = await importBytes(home, "fork.rlp", forked);
  assert.deepEqual([fork.error?.code, fork.head], ["IMPORT_FORKS", 10]);
  const missing = await runEvmintd(["import", path("missing"), "--home", home]);
  assert.equal(missing.code, 2);
});

/** Arguments of Node.js for a process that sends itself `signal` when its block log has `bytes` on disk: no other process is in time for that. */
function endsItself(signal: NodeJS.Signals, bytes: number): readonly string[] {
  const program = `
    import fs from "node:fs";
    const { fdatasyncSync } = fs;
    fs.fdatasyncSync = (fd) => {
      fdatasyncSync(fd);
      if (fs.fstatSync(fd).size < ${bytes}) return;
      fs.fdatasyncSync = fdatasyncSync;
      process.kill(process.pid, "${signal}");
    };`;
  return ["--import", `data:text/javascript,${encodeURIComponent(program)}`];
}

test("an import that is interrupted keeps what is done, and the next one goes on there", async () => {
  const home = newHome(GENESIS_TIME);
  const file = path("whole.rlp.gz");
  writeFileSync(file, gzipSync(whole));
  const { output, exited } = spawnEvmintd(["import", file, "--home", home], endsItself("SIGINT", 20_000));
  assert.equal(await exited, 130, output.stderr);
  const head = await headOf(home);
  assert.ok(head > 0 && head < BLOCKS, `head is ${head}`);
  assert.match(output.stderr, new RegExp(`"head":${head}`));

  const killed = spawnEvmintd(["import", file, "--home", home], endsItself("SIGKILL", 120_000));
  assert.equal(await killed.exited, "SIGKILL");
  const later = await headOf(home);
  assert.ok(later > head && later < BLOCKS, `head is ${later}`);

  const { code, stdout } = await runEvmintd(["import", file, "--home", home]);
  const rest = { imported: BLOCKS - later, skipped: later, head: BLOCKS };
  assert.deepEqual([code, JSON.parse(stdout)], [0, rest]);
  assert.equal(await headOf(home), BLOCKS);
});

test("export never replaces a file, and what it wrote comes in again, gzipped or not", async () => {
  const file = path("mine.rlp");
  writeFileSync(file, "precious");
  const refused = await runEvmintd(["export", file, "--home", source]);
  assert.deepEqual([refused.code, readFileSync(file, "utf8")], [2, "precious"]);
  const beyond = await runEvmintd(["export", path("beyond.rlp"), "1", String(BLOCKS + 1), "--home", source]);
  assert.equal(beyond.code, 1);
  assert.equal(existsSync(path("beyond.rlp")), false);
  const zipped = path("some.rlp.gz");
  assert.equal((await runEvmintd(["export", zipped, "1", "25", "--home", source])).code, 0);
  assert.deepEqual(gunzipSync(readFileSync(zipped)), Buffer.concat(encoded(1, 25)));
});

test("export into a folder that is not there says so", async () => {
  const { code, stderr } = await runEvmintd(["export", "/nonexistent/chain.rlp", "--home", source]);
  assert.equal(code, 1);
  assert.match(lastLine(stderr), /ENOENT/);
});

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, copy.length >> 1, (copy.length >> 1) + 20);
  return copy;
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
