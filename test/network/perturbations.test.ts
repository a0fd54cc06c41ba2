import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { skewClocks, whyNoClockSkew } from "./clock-skew.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";
import { Traffic, trafficAccounts } from "./traffic.ts";

/** `PERTURBATION_SEED=n` repeats a run; `PERTURBATION_MINUTES=10` keeps the traffic up for so long. */
const SEED = Number(process.env["PERTURBATION_SEED"] ?? Date.now() % 1_000_000);
const MINUTES = Number(process.env["PERTURBATION_MINUTES"] ?? 0);
const VALIDATORS = 4;
const NODES = 5;
const CLOCK_SECONDS = 90;
/** Space of the home, and of the store of CometBFT, whose disk fills up. */
const DISK_MEGABYTES = 400;

/** What nodes may log of a clock that differs, and of a full disk. */
const PROVOKED = [
  /clock differs from the network's/,
  /too far in the future/,
  /no space left on device/,
  /bytes of disk are left/,
  /ENOSPC|POOL_JOURNAL_WRITE|STORE_DISK_FULL/,
];

type Disturb = (node: NetworkNode, index: number) => Promise<void>;

test(`${NODES} nodes under traffic agree on every block, whatever happens to one of them (seed ${SEED})`, {
  skip: whyLeftOut(),
}, async (t) => {
  const random = seeded(SEED);
  const network = await Network.create({
    validators: VALIDATORS,
    followers: NODES - VALIDATORS,
    flags: ["--snapshot.interval", "60"],
    funded: trafficAccounts(NODES),
  });
  const { nodes } = network;
  const full = nodes[random(NODES)]!;
  const unmount = mountSmallDisk(full.home);
  const engineFull = nodes.filter((node) => node !== full)[random(NODES - 1)]!;
  const engineData = join(engineFull.home, "cometbft/data");
  const unmountEngine = mountSmallDisk(engineData);
  const traffic = new Traffic(nodes);
  t.after(async () => {
    await traffic.stop();
    await network.stop().catch(() => {});
    unmount();
    unmountEngine();
    rmSync(network.folder, { recursive: true, force: true });
  });
  await network.linkNodes();
  for (const node of nodes) {
    node.allowErrors(...PROVOKED);
    node.start();
  }
  const began = performance.now();
  for (const node of nodes) await reaches(node, 2);
  traffic.start();

  const others = (node: NetworkNode) => nodes.filter((each) => each !== node);
  const disturbances: Readonly<Record<string, Disturb>> = {
    async "kill -9 of the node"(node) {
      await node.kill();
      node.start();
    },
    async "kill -9 of CometBFT"(node) {
      node.killEngine();
    },
    async "kill -9 of both"(node) {
      await node.killBoth();
      node.start();
    },
    async "SIGSTOP of both for 5 s"(node) {
      const pids = node.pids();
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      await setTimeout(5_000);
      for (const pid of pids) process.kill(pid, "SIGCONT");
    },
    async restart(node) {
      await node.stop();
      node.start();
    },
    async "no connection for 10 s"(node) {
      const mend = network.cut(node);
      await setTimeout(10_000);
      mend();
    },
    async "data directory wiped"(node, index) {
      await traffic.pause(index, others(node));
      await node.stop();
      rmSync(join(node.home, "data"), { recursive: true });
      node.start();
      await reaches(node, 1);
      traffic.resume(index);
    },
    ...(whyNoClockSkew() === false && {
      async "clock 90 s ahead for 10 s"(node) {
        const undo = skewClocks(node.pids(), CLOCK_SECONDS);
        const height = await heightOf(node);
        await setTimeout(10_000);
        assert.ok((await heightOf(node)) > height, "a clock that is ahead stops nothing");
        undo();
      },
      async "clock 90 s behind for 40 s"(node) {
        const undo = skewClocks(node.pids(), -CLOCK_SECONDS);
        const before = await heights([node, ...others(node)]);
        await setTimeout(40_000);
        const after = await heights([node, ...others(node)]);
        const made = after.map((height, i) => height - before[i]!);
        t.diagnostic(`blocks of ${nameOf(node)}, whose clock is behind, and of the others: ${made}`);
        assert.ok(Math.min(...made.slice(1)) > 0, "the others go on");
        undo();
        assert.match(node.log(), /clock differs from the network's/);
      },
    }),
  };
  const recovers = async (what: string, node: NetworkNode) => {
    const target = Math.max(...(await heights(others(node)))) + 1;
    const milliseconds = await reaches(node, target);
    t.diagnostic(`${what}: ${nameOf(node)} has block ${target} after ${Math.round(milliseconds)} ms`);
  };

  for (const [what, disturb] of Object.entries(disturbances)) {
    const index = random(NODES);
    const node = nodes[index]!;
    await disturb(node, index);
    await recovers(what, node);
  }

  if (whyNoMount() === false) {
    let logged = full.log().length;
    let hasEnded = false;
    void full.ended().then(() => {
      hasEnded = true;
    });
    const free = fillDisk(full.home);
    // The node ends where its own block cannot be stored, and CometBFT alone where it is the first to notice.
    await eventually("the node or CometBFT ends", async () => {
      return hasEnded || full.log().slice(logged).includes("the engine ended");
    });
    free();
    if (hasEnded) full.start();
    await recovers("disk full", full);

    logged = engineFull.log().length;
    const freeEngine = fillDisk(engineData);
    await eventually("CometBFT ends", async () => {
      return engineFull.log().slice(logged).includes("the engine ended");
    });
    freeEngine();
    await recovers("disk of CometBFT full", engineFull);
  }

  const joined = await stateSync(network, t);

  while (performance.now() - began < MINUTES * 60_000) await setTimeout(1_000);
  await traffic.stop();
  const everywhere = [...nodes, joined];
  await eventually("every transaction that was answered is in a block, on every node", async () => {
    for (const hash of traffic.answered) await nodes[0]!.client.getTransactionReceipt({ hash });
    return true;
  });
  const last = Math.min(...(await heights(everywhere)));
  const base = await firstBlockOf(joined, last);
  for (let number = 0; number <= last; number++) {
    const holders = number < base ? nodes : everywhere;
    const hashes = await Promise.all(holders.map((node) => hashAt(node, number)));
    assert.equal(new Set(hashes).size, 1, `block ${number}`);
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  t.diagnostic(
    `${traffic.answered.length} transactions answered, none lost; ${last} blocks in ${seconds} s, with equal hashes on ${everywhere.length} nodes`,
  );
});

async function heightOf({ client }: NetworkNode): Promise<number> {
  return Number(await client.getBlockNumber({ cacheTime: 0 }));
}

function heights(nodes: readonly NetworkNode[]): Promise<readonly number[]> {
  return Promise.all(nodes.map(heightOf));
}

function reaches(node: NetworkNode, number: number): Promise<number> {
  return eventually(`${nameOf(node)} at block ${number}`, async () => {
    return (await heightOf(node)) >= number;
  });
}

async function hashAt({ client }: NetworkNode, number: number): Promise<string> {
  return (await client.getBlock({ blockNumber: BigInt(number) })).hash;
}

function nameOf({ home }: NetworkNode): string {
  return home.split("/").at(-1)!;
}

/** A node in an empty home, that restores a snapshot and follows. */
async function stateSync(network: Network, t: TestContext): Promise<NetworkNode> {
  const [first] = network.nodes as [NetworkNode];
  const trusted = await first.trusted(3);
  const joined = await network.join([
    "--cometbft.state-sync-servers",
    network.nodes
      .slice(0, 2)
      .map(({ engineRpc }) => engineRpc)
      .join(),
    "--cometbft.trust-block",
    `${trusted.height}:${trusted.hash}`,
  ]);
  joined.start();
  const milliseconds = await eventually("the new node has the newest block", async () => {
    return (await heightOf(joined)) >= (await heightOf(first)) - 1;
  });
  t.diagnostic(`state sync into an empty home: newest block after ${Math.round(milliseconds)} ms`);
  return joined;
}

/** Number of the first block that `node` has, of `last` and those before. */
async function firstBlockOf(node: NetworkNode, last: number): Promise<number> {
  let number = last;
  while (number > 0 && (await hashAt(node, number - 1).catch(() => undefined))) number--;
  return number;
}

/** Where a disk of its own can be mounted; else why not. */
function whyNoMount(): string | false {
  return process.platform === "linux" && process.getuid?.() === 0 ? false : "needs root on Linux";
}

/** Puts a file system of `DISK_MEGABYTES` under a folder. @returns unmounts it */
function mountSmallDisk(folder: string): () => void {
  if (whyNoMount()) return () => {};
  const copy = mkdtempSync(join(tmpdir(), "evmint-home-"));
  cpSync(folder, copy, { recursive: true });
  run("mount", "-t", "tmpfs", "-o", `size=${DISK_MEGABYTES}m`, "tmpfs", folder);
  cpSync(copy, folder, { recursive: true });
  rmSync(copy, { recursive: true });
  return () => void spawnSync("umount", ["-l", folder]);
}

/** Leaves nothing free where `folder` is. @returns frees it again */
function fillDisk(folder: string): () => void {
  const filler = join(folder, "filler");
  const file = openSync(filler, "w");
  try {
    for (const chunk = Buffer.alloc(1 << 20); ; ) writeSync(file, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
  return () => rmSync(filler);
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}

/** Integers below a bound, the same for the same seed. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
