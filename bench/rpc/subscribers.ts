import { WebSocket } from "ws";
import { freePort } from "../../test/support/free-port.ts";
import { median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { ProcessProbe } from "../support/process-probe.ts";
import { printTable, writeResult } from "../support/report.ts";

const ROUNDS = 3;
const BLOCKS = 100;

/**
 * `newHeads` to many subscribers: processor time a block beside anvil in the same run, and the memory of sockets that only wait.
 *
 *     npm run bench -- subscribers [subscribers] [idle sockets]
 */
export async function run([subscribersText = "1000", idleText = "10000"]: readonly string[]): Promise<void> {
  const subscribers = Number(subscribersText);
  const rows: Record<string, string | number>[] = [];
  const wsPort = await freePort();
  const evmint = await startEvmint({
    extraArguments: ["--json-rpc.ws-address", `127.0.0.1:${wsPort}`, "--log.level", "warn"],
  });
  const anvil = await startAnvil();
  const peers: { peer: Peer; url: string }[] = [
    { peer: evmint, url: `ws://127.0.0.1:${wsPort}` },
    ...(anvil ? [{ peer: anvil, url: `ws://127.0.0.1:${anvil.port}` }] : []),
  ];
  try {
    // The first round warms both up and does not count.
    for (const { peer, url } of peers) await fanout(peer, url, subscribers);
    const costs = peers.map(() => [] as Fanout[]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, { peer, url }] of peers.entries()) {
        costs[i]!.push(await fanout(peer, url, subscribers));
      }
    }
    const [ours, theirs] = costs.map((list) => ({
      cpuMs: median(list.map(({ cpuMs }) => cpuMs)),
      lastMs: median(list.map(({ lastMs }) => lastMs)),
    }));
    rows.push({
      workload: `newHeads to ${subscribers}`,
      "evmint CPU ms/block": ours!.cpuMs,
      "anvil CPU ms/block": theirs?.cpuMs ?? "-",
      "CPU ratio": theirs ? ours!.cpuMs / theirs.cpuMs : "-",
      "evmint last delivery ms": ours!.lastMs,
      "anvil last delivery ms": theirs?.lastMs ?? "-",
    });
    printTable(rows);
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.stop()));
  }
  const memory = await idleMemory(Number(idleText));
  printTable([memory]);
  writeResult("subscribers", [...rows, memory]);
}

type Fanout = { readonly cpuMs: number; readonly lastMs: number };

/** What a block costs the node with `count` subscribers, less what it costs without any. */
async function fanout(peer: Peer, url: string, count: number): Promise<Fanout> {
  const alone = await blockCost(peer, () => Promise.resolve());
  let waiting = 0;
  let delivered = () => {};
  const sockets = await openSockets(url, count, () => {
    if (--waiting === 0) delivered();
  });
  await subscribeAll(sockets, ["newHeads"]);
  const told = await blockCost(peer, () => {
    waiting = count;
    return new Promise<void>((resolve) => {
      delivered = resolve;
    });
  });
  await closeAll(sockets);
  return { cpuMs: told.cpuMs - alone.cpuMs, lastMs: told.wallMs - alone.wallMs };
}

async function blockCost(peer: Peer, whenTold: () => Promise<void>) {
  const cpuBefore = peer.cpuSeconds();
  const begin = performance.now();
  for (let i = 0; i < BLOCKS; i++) {
    const told = whenTold();
    await mine(peer);
    await told;
  }
  return {
    cpuMs: ((peer.cpuSeconds() - cpuBefore) * 1000) / BLOCKS,
    wallMs: (performance.now() - begin) / BLOCKS,
  };
}

const sender = new Map<Peer, string>();

/** Makes one block, with one transfer in it. */
async function mine(peer: Peer): Promise<void> {
  let from = sender.get(peer);
  if (from === undefined) {
    [from = ""] = await call<string[]>(peer.port, "eth_accounts", []);
    sender.set(peer, from);
  }
  await call(peer.port, "eth_sendTransaction", [{ from, to: from, value: "0x1", gas: "0x5208" }]);
}

/** What sockets that only wait cost a node that has never had any. */
async function idleMemory(count: number) {
  const [wsPort, inspectorPort] = [await freePort(), await freePort()];
  const node = await startEvmint({
    runtimeArguments: [`--inspect=127.0.0.1:${inspectorPort}`, "--inspect-publish-uid=http"],
    extraArguments: ["--json-rpc.ws-address", `127.0.0.1:${wsPort}`, "--log.level", "warn"],
  });
  const probe = await ProcessProbe.open(node.pid, inspectorPort);
  try {
    const before = await probe.holdings();
    const url = `ws://127.0.0.1:${wsPort}`;
    let waiting = count;
    let delivered = () => {};
    const told = new Promise<void>((resolve) => {
      delivered = resolve;
    });
    const sockets = await openSockets(url, count, () => {
      if (--waiting === 0) delivered();
    });
    const idle = await probe.holdings();
    const begin = performance.now();
    await subscribeAll(sockets, ["newHeads"]);
    const subscribed = performance.now();
    await mine(node);
    await told;
    const toldMs = performance.now() - subscribed;
    const subscribing = await probe.holdings();
    await closeAll(sockets);
    const kb = (after: number, earlier: number) => (after - earlier) / count / 1024;
    return {
      "idle sockets": String(count),
      "heap KB each": kb(idle.heapBytes, before.heapBytes),
      "resident KB each": kb(idle.anonymousBytes, before.anonymousBytes),
      "heap KB each, subscribed": kb(subscribing.heapBytes, before.heapBytes),
      "resident KB each, subscribed": kb(subscribing.anonymousBytes, before.anonymousBytes),
      "ms to subscribe all": subscribed - begin,
      "ms to tell all of a block": toldMs,
    };
  } finally {
    probe.close();
    await node.stop();
  }
}

async function openSockets(url: string, count: number, onNotice: () => void): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(200, count - sockets.length) }, () => {
      const socket = new WebSocket(url, { perMessageDeflate: false });
      return new Promise<WebSocket>((resolve, reject) => {
        socket.once("open", () => resolve(socket));
        socket.once("error", reject);
      });
    });
    sockets.push(...(await Promise.all(some)));
  }
  for (const socket of sockets) {
    socket.on("message", (data: Buffer) => {
      // An answer begins otherwise.
      if (data.includes("_subscription")) onNotice();
    });
  }
  return sockets;
}

async function subscribeAll(sockets: readonly WebSocket[], params: readonly unknown[]): Promise<void> {
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params });
  await Promise.all(
    sockets.map((socket) => {
      socket.send(request);
      return new Promise((resolve) => socket.once("message", resolve));
    }),
  );
}

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.terminate();
      return closed;
    }),
  );
}
