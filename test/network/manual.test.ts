import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPublicClient } from "viem";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { nodeIdOf } from "../../src/consensus/cometbft/home/home.ts";
import { formerKeys, readNextKey, readValidatorKey } from "../../src/consensus/cometbft/signing/key-files.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { patientHttp } from "../support/viem-clients.ts";
import { Machine, type ManualBlock, manualBlocks } from "./manual-pages.ts";
import { eventually, Network, type NetworkNode, P2P_PORT, whyLeftOut } from "./network.ts";

/*
 * The procedures of docs/operations, exactly as they are written there, on a network of four validators and a follower. Each block runs on the
 * machines of its role, one after the other; words in capitals are put in as a reader would.
 */

const PAGES = ["network", "machines", "keys", "sentries", "upgrade-day", "lost-validators"].map(
  (name) => `docs/operations/${name}.md`,
);
/** Longer than a new node needs to find a snapshot, of which nodes keep two. */
const SNAPSHOT_INTERVAL = 40;
/** Of nodes that are not in the network from the beginning. */
const SPARE_PORTS = 60;
/** Longer than a restart of one validator takes, shorter than two of them one after the other. */
const BLOCK_GAP_SECONDS_MAX = 12;

type Role = Readonly<Record<string, readonly Machine[]>>;
/** What a reader puts in for a word, when the block is reached. */
type Values = Readonly<Record<string, () => string>>;

const blocks = new Map(PAGES.map((page) => [page, manualBlocks(page)]));
const done = new Set<ManualBlock>();

/** Runs the blocks of a section; what each printed. */
async function follow(page: string, section: string, roles: Role, values: Values = {}): Promise<readonly string[]> {
  const outputs: string[] = [];
  const found = blocks.get(`docs/operations/${page}.md`)!.filter((block) => block.section === section);
  assert.ok(found.length > 0, `${page}: ${section}`);
  for (const block of found) {
    const machines = roles[block.role];
    assert.ok(machines !== undefined, `${page}: nobody is ${block.role}`);
    const words = Object.entries(values).filter(([word]) => block.text.includes(word));
    for (const machine of machines) {
      outputs.push(await machine.run(block.text, Object.fromEntries(words.map(([word, value]) => [word, value()]))));
    }
    done.add(block);
  }
  return outputs;
}

test("every page of procedures has blocks, and they name roles", () => {
  for (const [page, found] of blocks) assert.ok(found.length > 0, page);
});

test("the procedures of the operations manual work as they are written", { skip: whyLeftOut() }, async (t) => {
  const network = await Network.create({ validators: 4, followers: 1 });
  const shared = join(network.folder, "shared");
  mkdirSync(shared);
  const all: Machine[] = [];
  const machine = (name: string, home: string, port: number, environment = {}) => {
    const folder = join(network.folder, name);
    mkdirSync(folder);
    const made = new Machine({ folder, home, http: `127.0.0.1:${port}`, shared, environment });
    all.push(made);
    return made;
  };
  const nodes = network.nodes as readonly [NetworkNode, NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  const [first, second, third, moving, follower] = nodes.map((node, index) =>
    machine(`m${index}`, node.home, node.port),
  ) as [Machine, Machine, Machine, Machine, Machine];
  t.after(async () => {
    await Promise.all(all.map((each) => each.stop()));
    await network.stop();
  });
  for (const each of [first, second, third, moving, follower]) await each.run("systemctl start evmint");
  const [witness] = nodes;
  for (const node of nodes) await eventually("block 2", async () => (await node.height()) >= 2);
  const signs = (address: string) =>
    eventually(`${address} signs`, async () =>
      (await witness.committers((await witness.height()) - 1)).has(address.toLowerCase()),
    );
  const signers = () => witness.request("clique_getSigners") as Promise<readonly string[]>;
  const urlOf = ({ http }: Machine) => `http://${http}`;

  const spare = (name: string, port: number) => ({ [`EVMINT_${name}`]: `127.0.0.1:${port + SPARE_PORTS}` });
  const spareMachine = (name: string) =>
    machine(name, join(network.folder, `${name}-home`), witness.port + SPARE_PORTS, {
      ...spare("JSON_RPC_ADDRESS", witness.port),
      ...spare("JSON_RPC_WS_ADDRESS", witness.port + 1),
      ...spare("COMETBFT_P2P_ADDRESS", P2P_PORT),
      EVMINT_METRICS_ENABLE: "false",
    });

  await t.test("a backup is restored in a drill, which signs nothing and is the same chain", async () => {
    await follow("machines", "A backup each day", { validator: [moving] });
    const drill = spareMachine("drill");
    const [output] = await follow("machines", "Restore drill", { drill: [drill] }, { PEER_URL: () => urlOf(first) });
    assert.match(output!, /: the same chain and rules/);
    assert.ok(!existsSync(drill.home));
    assert.equal((await signers()).length, 4);
  });

  await t.test("a node joins from a snapshot, and follows", async () => {
    const joining = spareMachine("joining");
    const values = { "INTERVAL=1000": () => `INTERVAL=${SNAPSHOT_INTERVAL}` };
    await follow("network", "Nodes take snapshots", { server: [first, second] }, values);
    const snapshot = (await witness.height()) + SNAPSHOT_INTERVAL;
    await eventually("both took a snapshot", async () => (await witness.height()) >= snapshot + 3);
    const file = "network.json";
    const copied = join(network.folder, "joining", file);
    const { height, hash } = await witness.trusted(snapshot);
    await follow(
      "network",
      "A node begins with a snapshot",
      { member: [first], new: [joining] },
      {
        [file]: () => {
          const made = join(network.folder, "m0", file);
          if (existsSync(made)) copyFileSync(made, copied);
          return file;
        },
        "127.0.0.1:26657,127.0.0.1:26658": () => [nodes[0], nodes[1]].map(({ engineRpc }) => engineRpc).join(),
        "HEIGHT:HASH": () => `${height}:${hash}`,
      },
    );
    const joined = createPublicClient({ transport: patientHttp(urlOf(joining)) });
    await assert.rejects(joined.getBlock({ blockNumber: 1n }), /pruned history unavailable/);
    const head = await joined.getBlock();
    assert.equal((await witness.client.getBlock({ blockNumber: head.number })).hash, head.hash);
    await joining.stop();
    rmSync(joining.home, { recursive: true });
  });

  let moved: Machine;
  await t.test("a validator moves to another machine and signs there", async () => {
    const { address } = readValidatorKey(cometbftPath(moving.home));
    moved = machine("moved", join(network.folder, "moved-home"), nodes[3].port);
    const section = "A validator moves to another machine";
    const roles = { old: [moving], new: [moved] };
    const outputs = await follow("machines", section, roles, { PEER_URL: () => urlOf(first) });
    assert.match(outputs.at(-1)!, /: the same chain and rules/);
    assert.equal(readValidatorKey(cometbftPath(moved.home)).address, address);
    await signs(address);
  });

  await t.test("a validator's key is replaced", async () => {
    const directory = cometbftPath(first.home);
    const old = readValidatorKey(directory).address;
    const next = () => readNextKey(directory) ?? readValidatorKey(directory);
    const roles = { validator: [first], others: [second, third, moved] };
    await follow("keys", "A new key", roles, {
      NEW_ADDRESS: () => next().address,
      NEW_PUBLIC_KEY: () => bytesToHex(next().publicKey),
      OLD_ADDRESS: () => old,
      OLD_KEY_FILE: () => formerKeys(directory)[0]!.file,
    });
    const { address } = readValidatorKey(directory);
    const set = await signers();
    assert.ok(address !== old && set.includes(address) && !set.includes(old), set.join());
    assert.deepEqual(formerKeys(directory), []);
    assert.deepEqual(await witness.request("clique_proposals"), {});
    await signs(address);
  });

  await t.test("a validator goes behind a sentry, and is connected with that one alone", async () => {
    const id = nodeIdOf(cometbftPath(follower.home));
    const outputs = await follow(
      "sentries",
      "Sentries",
      { sentry: [follower], validator: [second] },
      {
        VALIDATOR_ID: () => nodeIdOf(cometbftPath(second.home)),
        SENTRY_ID: () => id,
        SENTRY_HOST_PORT: () => `127.0.0.1:${P2P_PORT + 40}`,
      },
    );
    const status = outputs.at(-1)!;
    const { peers } = JSON.parse(status.slice(status.indexOf("{\n"))) as { readonly peers: readonly { id: string }[] };
    assert.deepEqual(
      peers.map((peer) => peer.id),
      [id],
    );
    await signs(readValidatorKey(cometbftPath(second.home)).address);
    await follow("sentries", "Nodes for callers", { rpc: [follower] });
  });

  await t.test(
    "all nodes are upgraded one after the other while blocks go on, and the validators agree on a fork",
    async () => {
      const before = await witness.height();
      const time = Math.floor(Date.now() / 1_000) + 86_400;
      const each = [follower, first, second, third, moved];
      const outputs = await follow(
        "upgrade-day",
        "Upgrade day",
        { each, first: [first], voters: [first, third, moved] },
        {
          PEER_URL: () => urlOf(third),
          OTHER_URL: () => urlOf(follower),
          FORK: () => "bpo1",
          TIME: () => String(time),
        },
      );
      assert.equal(outputs.join().match(/: the same chain and rules/g)?.length, 2);
      const { agreed, proposals } = (await nodes[4].request("clique_parameters", "latest")) as {
        readonly agreed: object;
        readonly proposals: object;
      };
      assert.deepEqual([agreed, proposals], [{ bpo1Time: time }, {}]);
      const last = await witness.height();
      const times: number[] = [];
      for (let number = before; number <= last; number++) {
        times.push(Number((await witness.client.getBlock({ blockNumber: BigInt(number) })).timestamp));
      }
      const longest = Math.max(...times.slice(1).map((at, index) => at - times[index]!));
      t.diagnostic(`${last - before} blocks, at most ${longest} s apart`);
      assert.ok(longest <= BLOCK_GAP_SECONDS_MAX, `${longest} s without a block`);
    },
  );

  await t.test("two of four validators are lost, and the others continue the chain", async () => {
    const early = await witness.client.getBlock({ blockNumber: 2n });
    for (const lost of [second, moved]) {
      await lost.kill();
      rmSync(lost.home, { recursive: true });
    }
    await follower.stop();
    const page = "lost-validators";
    const section = "More than a third of the validators is lost";
    const known = readValidatorKey(cometbftPath(third.home));
    // The one that is ahead where they differ; the page asks both.
    const isFirstAhead = (await witness.height()) >= (await nodes[2].height());
    const [one, other] = isFirstAhead ? [first, third] : [third, first];
    const joining = isFirstAhead ? known : readValidatorKey(cometbftPath(first.home));
    const roles = { remaining: [first, third], first: [one], second: [other] };
    const outputs = await follow(page, section, roles, {
      ADDRESS: () => joining.address,
      PUBLIC_KEY: () => bytesToHex(joining.publicKey),
    });
    assert.ok(outputs.some((output) => output.includes(`"address": "${joining.address}"`)));
    await eventually("both are validators", async () => (await signers()).length === 2);
    await eventually("both sign", async () => (await witness.committers((await witness.height()) - 1)).size === 2);
    assert.equal((await nodes[2].client.getBlock({ blockNumber: 2n })).hash, early.hash);
  });

  assert.deepEqual(
    [...blocks.values()].flat().filter((block) => !done.has(block)),
    [],
    "every block was run",
  );
  for (const each of all) assert.doesNotMatch(each.log, /double-signed/);
});
