import assert from "node:assert/strict";
import { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Address } from "../../src/base/primitives/address.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { pauseThread } from "../../src/chain/store/follow/store-follower.ts";
import { hasEnded } from "../../src/node/processes/ended-process.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { WsClient } from "../support/ws-client.ts";

const [FROM, TO] = DEV_ADDRESSES;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
type Answer = { readonly status: number; readonly body: any };

/** A client with one connection of its own: the next client's is served by another process. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  #id = 0;

  constructor(url: string) {
    this.#url = url;
  }

  send(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const sent = request(
        this.#url,
        {
          agent: this.#agent,
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
        },
        (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (chunk) => {
            answer += chunk;
          });
          response.on("end", () => resolve({ status: response.statusCode!, body: answer && JSON.parse(answer) }));
        },
      );
      sent.on("error", reject);
      sent.end(text);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  async call(method: string, ...params: unknown[]): Promise<any> {
    const id = ++this.#id;
    const { body } = await this.send({ jsonrpc: "2.0", id, method, params });
    assert.equal(body.id, id);
    assert.equal(body.error, undefined, `${method}: ${JSON.stringify(body.error)}`);
    return body.result;
  }

  /** Sends a transfer. @returns its receipt, once this connection sees it */
  async transfer(): Promise<{ readonly transactionHash: string; readonly blockHash: string }> {
    const hash = await this.call("eth_sendTransaction", { from: FROM, to: TO, value: "0x1" });
    for (;;) {
      const receipt = await this.call("eth_getTransactionReceipt", hash);
      if (receipt !== null) return receipt;
      await nextTurn();
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

const settings = { "json-rpc.processes": "2", "consensus.block-time": "instant" };
const KILLED = /^error rpc: RPC process ended, starting another .*reason=SIGKILL/;

describe("RPC processes", () => {
  let node: TestNode;
  let clients: readonly Client[];
  before(async () => {
    node = await startTestNode({
      dev: true,
      settings: { ...settings, ...WITH_METRICS },
      expectedErrors: [KILLED],
    });
    clients = [new Client(node.url), new Client(node.url)];
    // Connected one after the other, so each is on a process of its own.
    for (const client of clients) await client.call("eth_chainId");
  });
  after(async () => {
    for (const client of clients) client.close();
    await node.stop();
  });

  test("serve the connections, and each has some of them", async () => {
    const { processes } = node.node;
    assert.equal(processes?.pids.length, 2);
    const text = await (await fetch(metricsUrl(node))).text();
    assert.match(text, /^evmint_rpc_processes_ready 2$/m);
    assert.match(text, /^evmint_rpc_process_connections 2$/m);
    assert.match(text, /^evmint_rpc_connections\{transport="http"\} 2$/m);
    assert.match(
      text,
      /^evmint_rpc_request_duration_seconds_count\{method="eth_chainId"\} 2$/m,
      "calls of both are in one metric",
    );
  });

  test("never go back: what one connection has seen, every other sees at once", async () => {
    const [writer, reader] = clients as [Client, Client];
    for (let round = 0; round < 50; round++) {
      const receipt = await writer.transfer();
      const { transactionHash } = receipt;
      assert.deepEqual(await reader.call("eth_getTransactionReceipt", transactionHash), receipt);
      const [own, other] = await Promise.all([
        writer.call("eth_getTransactionCount", FROM, "latest"),
        reader.call("eth_getTransactionCount", FROM, "pending"),
      ]);
      assert.equal(own, other);
      const number = await writer.call("eth_blockNumber");
      const block = await reader.call("eth_getBlockByNumber", number, false);
      assert.equal(block.number, number);
    }
  });

  test("announce a block only when every process can read it", async () => {
    const sockets = await Promise.all([WsClient.open(node.wsUrl), WsClient.open(node.wsUrl)]);
    const subscriptions = await Promise.all(sockets.map((each) => each.subscribe("newHeads")));
    const waiting = new Map<string, () => void>();
    const seen: string[][] = [[], []];
    for (const [i, socket] of sockets.entries()) {
      socket.on(subscriptions[i]!, ({ hash }) => {
        seen[i]!.push(hash);
        waiting.get(`${i} ${seen[i]!.length}`)?.();
      });
    }
    const headOf = (i: number, count: number): Promise<void> =>
      new Promise((resolve) => {
        if (seen[i]!.length >= count) resolve();
        else waiting.set(`${i} ${count}`, resolve);
      });
    for (let count = 1; count <= 10; count++) {
      const next = headOf(count % 2, count);
      await clients[0]!.call("eth_sendTransaction", { from: FROM, to: TO, value: "0x1" });
      await next;
      const hash = seen[count % 2]!.at(-1)!;
      for (const client of clients) {
        assert.equal((await client.call("eth_getBlockByHash", hash, false)).hash, hash);
      }
    }
    await Promise.all([headOf(0, 10), headOf(1, 10)]);
    assert.deepEqual(seen[0], seen[1]);
    for (const socket of sockets) socket.close();
  });

  test("find a filter whichever connection asks, and remove it for all", async () => {
    const [one, other] = clients as [Client, Client];
    const id = await one.call("eth_newBlockFilter");
    const { blockHash } = await one.transfer();
    assert.ok((await other.call("eth_getFilterChanges", id)).includes(blockHash));
    assert.ok(!(await one.call("eth_getFilterChanges", id)).includes(blockHash));
    assert.equal(await other.call("eth_uninstallFilter", id), true);
    assert.equal(await one.call("eth_uninstallFilter", id), false);
  });

  test("serve a rolled-back chain's new blocks, never the removed ones", {
    skip: NEEDS_SOLO,
  }, async () => {
    const [one, other] = clients as [Client, Client];
    for (let round = 0; round < 5; round++) {
      const before = await one.call("eth_getBlockByNumber", "latest", false);
      const hash = await one.call("eth_sendTransaction", { from: FROM, to: TO, value: "0x7" });
      const { blockHash } = await other.call("eth_getTransactionReceipt", hash);
      await one.call("debug_setHead", before.number);
      for (const client of clients) {
        assert.equal((await client.call("eth_getBlockByNumber", "latest", false)).hash, before.hash);
        assert.equal(await client.call("eth_getBlockByHash", blockHash, false), null);
        assert.equal(await client.call("eth_getTransactionReceipt", hash), null);
      }
      const again = await other.call("eth_sendTransaction", { from: FROM, to: TO, value: "0x9" });
      assert.equal((await one.call("eth_getTransactionReceipt", again)).transactionHash, again);
    }
  });

  test("tell subscribers which logs a rollback removed", { skip: NEEDS_SOLO }, async () => {
    const [one] = clients as [Client, Client];
    const { number } = await one.call("eth_getBlockByNumber", "latest", false);
    const socket = await WsClient.open(node.wsUrl);
    const logs = await socket.subscribe("logs", {});
    // PUSH1 0, PUSH1 0, LOG0 as initialization code.
    const hash = await one.call("eth_sendTransaction", { from: FROM, data: "0x60006000a0" });
    while ((await one.call("eth_getTransactionReceipt", hash)) === null) await nextTurn();
    await one.call("debug_setHead", number);
    await socket.untilTold(logs, 2);
    socket.close();
    assert.deepEqual(
      socket.told(logs).map(({ transactionHash, removed }) => [transactionHash, removed]),
      [
        [hash, false],
        [hash, true],
      ],
    );
  });

  test("a killed process takes only its own connections with it, and is replaced", async () => {
    const { processes } = node.node;
    const [victim] = processes!.pids;
    process.kill(victim!, "SIGKILL");
    const results = await Promise.allSettled(
      clients.map((client) => client.send({ jsonrpc: "2.0", id: 1, method: "eth_chainId" })),
    );
    // The cut connection's client connects again, so at most its running call failed.
    assert.ok(results.some(({ status }) => status === "fulfilled"));
    await until(() => !processes!.pids.includes(victim!), "the end of the killed process");
    await processes!.ready();
    assert.equal(processes!.pids.length, 2);
    for (const client of clients) assert.equal(await client.call("eth_chainId"), "0x7a69");
    const text = await (await fetch(metricsUrl(node))).text();
    assert.match(text, /^evmint_rpc_processes_lost_total 1$/m);
  });

  test("close a listener that is stopped, and serve it again when it is started", async () => {
    const socket = await WsClient.open(node.wsUrl);
    const closed = once(socket.socket, "close");
    const [client] = clients as [Client];
    assert.equal(await client.call("admin_stopWS"), true);
    await closed;
    const { port } = new URL(node.wsUrl);
    assert.equal(await client.call("admin_startWS", "127.0.0.1", Number(port)), true);
    const again = await WsClient.open(node.wsUrl);
    assert.equal(await again.call("eth_chainId"), "0x7a69");
    again.close();
  });
});

test("all connections of a listener's limit are accepted, however those of the other are spread", async () => {
  const limit = 5;
  const node = await startTestNode({
    dev: true,
    settings: { ...settings, ...WITH_METRICS },
    limits: { server: { wsConnectionsMax: limit } },
  });
  try {
    const clients = [new Client(node.url), new Client(node.url)];
    for (const client of clients) await client.call("eth_chainId");
    clients[0]!.close();
    await until(async () => (await metricOf(node, "rpc_process_connections")) < 2, "the close of a connection");
    const sockets: WsClient[] = [];
    while (sockets.length < limit) sockets.push(await WsClient.open(node.wsUrl));
    await assert.rejects(WsClient.open(node.wsUrl));
    for (const socket of sockets) socket.close();
    clients[1]!.close();
  } finally {
    await node.stop();
  }
});

test("bad tokens are counted over all RPC processes together", async () => {
  const node = await startConfiguredNode({ settings, limits: { tokens: { badTokensMax: 4 } } });
  try {
    const clients = [new Client(node.url), new Client(node.url)];
    const call = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };
    for (const client of clients) assert.equal((await client.send(call)).status, 200);
    const statuses: number[] = [];
    const headers = { authorization: "Bearer bad" };
    for (let attempt = 0; attempt < 8; attempt++) {
      statuses.push((await clients[attempt % 2]!.send(call, headers)).status);
      // Through the chain's process to the other: its answer to this arrives after the news.
      for (const client of clients) await client.send({ ...call, method: "net_version" });
    }
    // With a count of its own each process would answer 401 to all eight. One more may come back to a slow test.
    const heard = statuses.filter((status) => status === 401).length;
    assert.ok(heard === 4 || heard === 5, String(statuses));
    assert.ok(
      statuses.slice(heard).every((status) => status === 429),
      String(statuses),
    );
    for (const client of clients) client.close();
  } finally {
    await node.stop();
  }
});

test("the stop of a node ends its RPC processes, and open connections with them", async () => {
  const node = await startTestNode({ dev: true, settings });
  const { pids } = node.node.processes!;
  const client = new Client(node.url);
  await client.call("eth_chainId");
  await node.stop();
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  client.close();
});

test("connections that are handed to a process that is killed are closed", async () => {
  const node = await startTestNode({
    dev: true,
    settings: { ...settings, "json-rpc.processes": "1" },
    expectedErrors: [KILLED],
  });
  try {
    const { hostname, port } = new URL(node.url);
    const processes = node.node.processes!;
    const [pid] = processes.pids;
    const areHandedOver = new Promise<void>((resolve) => {
      const handOver = processes.handOver.bind(processes);
      let count = 0;
      processes.handOver = (kind, socket) => {
        const isHandedOver = handOver(kind, socket);
        if (++count === 5) resolve();
        return isHandedOver;
      };
    });
    process.kill(pid!, "SIGSTOP");
    const sockets = Array.from({ length: 5 }, () => connect(Number(port), hostname));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of sockets) {
      // Closed with unread data is reset.
      socket.on("error", () => {}).write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
    }
    await areHandedOver;
    process.kill(pid!, "SIGKILL");
    await Promise.all(closed);
    await processes.ready();
    const client = new Client(node.url);
    assert.equal(await client.call("eth_chainId"), "0x7a69");
    client.close();
  } finally {
    await node.stop();
  }
});

test("a process that dies before it has received its start parameters is one error, and is replaced", {
  skip: process.platform !== "linux" && "left out: the threads of a process are read from /proc",
}, async (t) => {
  const node = await startTestNode({
    dev: true,
    settings: { ...settings, "json-rpc.processes": "1" },
    expectedErrors: [KILLED],
  });
  const { emit } = ChildProcess.prototype;
  let killed = 0;
  try {
    const processes = node.node.processes!;
    const [first] = processes.pids;
    t.mock.method(ChildProcess.prototype, "emit", function (this: ChildProcess, event: string, ...rest: unknown[]) {
      if (event === "message" && this.pid !== first && killed === 0) {
        killed = this.pid!;
        this.kill("SIGKILL");
        // Its files are closed with the last of its threads.
        while (!hasEnded(killed) || readdirSync(`/proc/${killed}/task`).length > 1) pauseThread();
      }
      return Reflect.apply(emit, this, [event, ...rest]);
    });
    process.kill(first!, "SIGKILL");
    await until(() => killed !== 0 && !processes.pids.includes(killed), "the end of the second process");
    await processes.ready();
    assert.equal(processes.pids.length, 1);
  } finally {
    await node.stop();
  }
});

test("a process that sends a wrong message is ended and replaced, and the chain goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-wrong-"));
  const file = join(folder, "message.json");
  const options = process.env["NODE_OPTIONS"];
  process.env["NODE_OPTIONS"] =
    `${options ?? ""} --import ${new URL("../support/wrong-messages.mjs", import.meta.url)}`;
  process.env["TEST_WRONG_MESSAGE"] = file;
  const refusals = [
    "for an unknown receiver",
    "chain.submit: its input .transaction is not bytes",
    "chain.submit: its input has a member sender",
  ].map(
    (reason) =>
      new RegExp(`^error rpc: RPC process is terminated because of its message .*RPC_PROCESS_MESSAGE.*${reason}`),
  );
  const node = await startTestNode({
    dev: true,
    settings: { ...settings, "json-rpc.processes": "1" },
    expectedErrors: [KILLED, ...refusals],
  });
  try {
    const client = new Client(node.url);
    const before = await client.transfer();
    client.close();
    const wrong = [
      [{ kind: "event", name: "none", input: {} }],
      [{ kind: "call", id: 1e9, name: "chain.submit", input: { transaction: { tx: { type: 2 }, sender: FROM } } }],
      // Signed by a key without ether, in the name of an account that has some.
      [
        {
          kind: "call",
          id: 1e9,
          name: "chain.submit",
          input: { transaction: `bytes:${strangersTransfer()}`, sender: FROM },
        },
      ],
    ];
    for (const [index, messages] of wrong.entries()) {
      const [pid] = node.node.processes!.pids;
      writeFileSync(file, JSON.stringify(messages));
      process.kill(pid!, "SIGUSR2");
      await until(() => !node.node.processes!.pids.includes(pid!), "the end of the process");
      await node.node.processes!.ready();
      await node.untilLogged(refusals[index]!);
    }
    const again = new Client(node.url);
    assert.deepEqual(await again.call("txpool_status"), { pending: "0x0", queued: "0x0" });
    assert.equal(await again.call("eth_getTransactionCount", FROM, "pending"), "0x1");
    const receipt = await again.call("eth_getTransactionReceipt", before.transactionHash);
    assert.equal(receipt.blockHash, before.blockHash);
    await again.transfer();
    again.close();
  } finally {
    await node.stop();
    if (options === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = options;
    delete process.env["TEST_WRONG_MESSAGE"];
    rmSync(folder, { recursive: true });
  }
});

test("a process that does not answer gets no connections, and is replaced", async () => {
  const silent = /^warn +rpc: RPC process does not answer and gets no new connections/;
  const lost = /^error rpc: RPC process is terminated because it does not answer/;
  const node = await startTestNode({
    dev: true,
    settings: { ...settings, ...WITH_METRICS, "json-rpc.processes": "1" },
    limits: { processes: { beatMs: 100 } },
    expectedErrors: [KILLED, lost],
  });
  try {
    const processes = node.node.processes!;
    const [pid] = processes.pids;
    process.kill(pid!, "SIGSTOP");
    await node.untilLogged(silent);
    assert.deepEqual(processes.pids, [pid]);
    assert.equal(await metricOf(node, "rpc_processes_ready"), 0);
    const client = new Client(node.url);
    assert.equal(await client.call("eth_chainId"), "0x7a69", "the chain's process serves it");
    await node.untilLogged(KILLED);
    await processes.ready();
    assert.notDeepEqual(processes.pids, [pid]);
    client.close();
  } finally {
    await node.stop();
  }
});

test("no debugger is opened at SIGUSR1", {
  skip: process.platform !== "linux" && "left out: sockets of a process are read from /proc",
}, async () => {
  const node = await startTestNode({ dev: true, settings: { ...settings, "json-rpc.processes": "1" } });
  try {
    const [pid] = node.node.processes!.pids;
    const client = new Client(node.url);
    await client.call("eth_chainId");
    process.kill(pid!, "SIGUSR1");
    // Node.js opens the port in the turn after the signal.
    for (let call = 0; call < 50; call++) await client.call("eth_chainId");
    assert.deepEqual(listeningPortsOf(pid!), []);
    client.close();
  } finally {
    await node.stop();
  }
});

/** A transfer of an ether by an account that has none, as the next transaction of whichever account sends it: hexadecimal digits. */
function strangersTransfer(): string {
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
  const fields = {
    type: 2,
    chainId: 31337n,
    nonce: 1n,
    gasLimit: 21_000n,
    to: TO as Address,
    value: 10n ** 18n,
    ...fees,
  } as const;
  const signed = signTransaction({ ...fields, data: new Uint8Array(), accessList: [] }, new Uint8Array(32).fill(7));
  return Buffer.from(signed.raw).toString("hex");
}

/** TCP ports on which a process of this machine listens. */
function listeningPortsOf(pid: number): string[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && own.has(inode ?? ""))
    .map(([, local]) => local!);
}

function metricsUrl({ node }: TestNode): string {
  return node.listeners.find(({ kind }) => kind === "metrics")!.url;
}

test("RPC processes have execution threads exactly where json-rpc.workers allows some", async () => {
  for (const workers of ["0", "2"]) {
    const node = await startTestNode({
      dev: true,
      settings: { ...settings, ...WITH_METRICS, "json-rpc.workers": workers },
    });
    try {
      const client = new Client(node.url);
      assert.equal(await client.call("eth_call", { to: FROM, data: "0x" }, "latest"), "0x");
      const trace = await client.call("debug_traceCall", { to: FROM }, "latest");
      assert.equal(trace.failed, false);
      client.close();
      const text = await (await fetch(metricsUrl(node))).text();
      assert.equal(/^evmint_execution_threads_busy /m.test(text), workers !== "0");
    } finally {
      await node.stop();
    }
  }
});
