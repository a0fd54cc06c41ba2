import assert from "node:assert/strict";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DEV_ADDRESSES } from "../../support/accounts.ts";
import { NEEDS_SOLO } from "../../support/test-engine.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";

const RETAINED = { "chain.retain-blocks": "200", "state.history": "150", "state.proofs": "128" };
/** Of a segment of the log: some six blocks. */
const SEGMENT_BYTES_MAX = 16 << 10;
/** A merge every forty blocks: blocks are removed that are merged. */
const MERGE_LIMITS = {
  versionsMin: 200,
  nodeBytesMin: 1 << 20,
  blocksMin: 40,
  keysMax: 500,
  logs: { blocksMin: 40, postingsMin: 1_000, logBytesMin: 1 << 20, rowsMax: 500 },
};
/** The retained ones, three merges, and what the last segments hold besides. */
const BLOCKS_KEPT_MAX = 350;
const BLOCKS = 1200;
/** From here on as much is removed as is made. */
const SETTLED = 500;
/** Blocks between two looks at the files. */
const CALLS = 50;

/** Segments go some at a time, so the peaks differ by up to a third; without an end there would be more than twice as many. */
const GROWTH = 1.6;

const isLinux = process.platform === "linux";

async function call({ url }: TestNode, method: string, params: readonly unknown[] = []) {
  const response = await fetch(url, {
    method: "POST",
    // A connection of its own each time: all processes serve some.
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  assert.equal(error, undefined, JSON.stringify(error));
  return result;
}

/** Number of the oldest retained block. */
async function oldest(node: TestNode): Promise<number> {
  const { number } = (await call(node, "eth_getBlockByNumber", ["earliest", false])) as { number: string };
  return Number(number);
}

/** Paths of the files in `folder` that process `pid` has open or mapped. */
function openFiles(pid: number | "self", folder: string): readonly string[] {
  return ["fd", "map_files"].flatMap((kind) => {
    const links = `/proc/${pid}/${kind}`;
    return names(links).flatMap((name) => {
      const path = target(join(links, name));
      return path?.startsWith(folder) ? [path] : [];
    });
  });
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Mapped files are shown to root alone.
    return [];
  }
}

function target(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

describe("followers of a chain with retention", { skip: NEEDS_SOLO }, () => {
  test("RPC processes and threads hold no removed file, and descriptors and disk stay constant", {
    skip: !isLinux,
  }, async (t) => {
    const node = await startTestNode({
      dev: true,
      settings: {
        ...RETAINED,
        "consensus.block-time": "manual",
        "json-rpc.processes": "2",
        "json-rpc.workers": "1",
      },
      hooks: { segmentBytesMax: SEGMENT_BYTES_MAX, mergeLimits: MERGE_LIMITS },
    });
    t.after(() => node.stop());
    const data = join(node.home, "data");
    const pids = node.node.processes!.pids;
    assert.equal(pids.length, 2);
    const [from, to] = DEV_ADDRESSES;
    const transaction = { from, to, data: `0x${"ab".repeat(2_000)}`, gas: "0x30d40" };
    let most = { early: 0, late: 0 };
    let disk = { early: 0, late: 0 };
    for (let number = 1; number <= BLOCKS; number++) {
      await node.node.provider.request({ method: "eth_sendTransaction", params: [transaction] });
      node.produceBlock();
      if (number % CALLS !== 0) continue;
      const block = `0x${number.toString(16)}`;
      for (let i = 0; i < 6; i++) {
        assert.equal(
          ((await call(node, "eth_getBlockByNumber", ["latest", false])) as { number: string }).number,
          block,
        );
        await call(node, "eth_call", [{ from, to }, "latest"]);
      }
      // A thread that got none of the calls looks every second.
      let open: readonly string[];
      do {
        await nextTurn();
        open = ["self" as const, ...pids].flatMap((pid) => openFiles(pid, data));
      } while (open.some((path) => path.endsWith("(deleted)")) && !t.signal.aborted);
      // Old blocks are removed between others' work, which on a loaded machine is late.
      await until(async () => number - (await oldest(node)) <= BLOCKS_KEPT_MAX, "the removal of old blocks");
      const part = number <= SETTLED ? "early" : "late";
      most = { ...most, [part]: Math.max(most[part], open.length) };
      disk = { ...disk, [part]: Math.max(disk[part], bytesIn(join(data, "log"))) };
    }
    t.diagnostic(JSON.stringify({ most, disk }));
    assert.ok(most.late <= most.early * GROWTH, JSON.stringify(most));
    assert.ok(disk.late <= disk.early * GROWTH, JSON.stringify(disk));
    assert.ok((await oldest(node)) > SETTLED);
  });
});
