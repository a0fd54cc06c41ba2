import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { startTestNode, type TestNode } from "../../test/support/test-node.ts";
import { printTable, writeResult } from "../support/report.ts";

const BLOCK_MS = 50;
const STAYING = 20;
const RESTLESS = 40;

/** Init code that logs 8 KiB and then 32 bytes, so that a client that does not read is found out within seconds. */
const LOUD_CODE = "0x6120006000a060aa60206000a100";
/** Turns, of two seconds each, during which a client does not read. */
const STALLED_TURNS = 4;

/**
 * Twenty blocks a second, subscribers that stay, and clients that come, vanish, stall and come back. Those that stayed must have heard
 * of every block and every log once, in order; memory and open handles must not grow.
 *
 *     npm run bench -- soak [seconds]
 */
export async function run([secondsText = "60"]: readonly string[]): Promise<void> {
  const seconds = Number(secondsText);
  const node = await startTestNode({
    dev: true,
    settings: {
      "consensus.block-time": "manual",
      "json-rpc.notification-buffer-limit": "262144",
      // Caches are to be full long before the end, so that growth can be told from filling.
      "json-rpc.block-cache-size": "1048576",
    },
  });
  const staying: StayingClient[] = [];
  const restless: RestlessClient[] = [];
  try {
    const [from] = (await rpc(node, "eth_accounts", [])) as [string];
    for (let i = 0; i < STAYING; i++) {
      staying.push(await StayingClient.open(i % 4 === 3 ? node.ipcPath : node.wsUrl));
    }
    const poller = (await rpc(node, "eth_newBlockFilter", [])) as string;
    const logPoller = (await rpc(node, "eth_newFilter", [{}])) as string;
    const polled: string[] = [];
    const polledLogs: string[] = [];
    for (let i = 0; i < RESTLESS; i++) restless.push(new RestlessClient(node.wsUrl, i));

    const samples: { readonly second: number; readonly bytes: number; readonly handles: number }[] =
      [];
    const begin = performance.now();
    const firstBlock = node.node.core.chain.head().block.header.number + 1;
    for (let tick = 0; performance.now() - begin < seconds * 1000; tick++) {
      await rpc(node, "eth_sendTransaction", [{ from, data: LOUD_CODE, gas: "0x100000" }]);
      node.produceBlock();
      restless[tick % RESTLESS]!.act(tick);
      if (tick % 10 === 0) {
        polled.push(...((await rpc(node, "eth_getFilterChanges", [poller])) as string[]));
        polledLogs.push(...placesOf(await rpc(node, "eth_getFilterChanges", [logPoller])));
      }
      if (tick % 20 === 0) {
        globalThis.gc?.();
        samples.push({
          second: Math.round((performance.now() - begin) / 1000),
          bytes: process.memoryUsage().heapUsed + process.memoryUsage().external,
          handles: process.getActiveResourcesInfo().length,
        });
      }
      const due = begin + (tick + 1) * BLOCK_MS;
      await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
    }
    for (const client of restless) client.leave();
    await new Promise((done) => setTimeout(done, 2000));
    polled.push(...((await rpc(node, "eth_getFilterChanges", [poller])) as string[]));
    polledLogs.push(...placesOf(await rpc(node, "eth_getFilterChanges", [logPoller])));

    const { chain } = node.node.core;
    const lastBlock = chain.head().block.header.number;
    const heads: string[] = [];
    const logs: string[] = [];
    for (let number = firstBlock; number <= lastBlock; number++) {
      const { block, receipts } = chain.blockByNumber(number)!;
      heads.push(block.hash);
      const count = receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
      for (let index = 0; index < count; index++) logs.push(`${number}/${index}`);
    }
    for (const client of staying) {
      assertSame("heads", client.heads, heads);
      assertSame("logs", client.logs, logs);
    }
    assertSame("polled blocks", polled, heads);
    assertSame("polled logs", polledLogs, logs);
    const cut = restless.reduce((sum, client) => sum + client.timesCut, 0);
    const third = Math.floor(samples.length / 3);
    const mean = (list: typeof samples, of: "bytes" | "handles") =>
      list.reduce((sum, sample) => sum + sample[of], 0) / list.length;
    const row = {
      seconds: String(seconds),
      blocks: heads.length,
      "logs heard by each": logs.length,
      "subscribers that stayed": STAYING,
      "clients come and gone": restless.reduce((sum, client) => sum + client.connections, 0),
      "stalled and cut": cut,
      "MB, second third": mean(samples.slice(third, 2 * third), "bytes") / 2 ** 20,
      "MB, last third": mean(samples.slice(2 * third), "bytes") / 2 ** 20,
      "handles, second third": mean(samples.slice(third, 2 * third), "handles"),
      "handles, last third": mean(samples.slice(2 * third), "handles"),
    };
    for (const [name, value] of Object.entries(row)) console.log(`${name.padEnd(26)} ${value}`);
    writeResult("soak", [row]);
    printTable([{ result: "nobody missed anything or heard it twice", blocks: heads.length }]);
  } finally {
    for (const client of [...staying, ...restless]) client.leave();
    await node.stop();
  }
}

/** Where logs stand; the logs themselves are not kept. */
function placesOf(logs: unknown): string[] {
  return (logs as { blockNumber: string; logIndex: string }[]).map(
    ({ blockNumber, logIndex }) => `${Number(blockNumber)}/${Number(logIndex)}`,
  );
}

function assertSame(what: string, found: readonly string[], expected: readonly string[]): void {
  if (found.join() === expected.join()) return;
  const at = found.findIndex((entry, index) => entry !== expected[index]);
  throw new Error(
    `${what}: ${found.length} instead of ${expected.length}, first difference at ${at}`,
  );
}

type Notice = {
  readonly method?: string;
  readonly params?: {
    readonly subscription: string;
    readonly result: {
      readonly hash?: string;
      readonly blockNumber: string;
      readonly logIndex: string;
    };
  };
};

/** Subscribes once, by WebSocket or IPC, and notes everything. */
class StayingClient {
  readonly heads: string[] = [];
  readonly logs: string[] = [];
  readonly #close: () => void;

  constructor(close: () => void) {
    this.#close = close;
  }

  static async open(url: string): Promise<StayingClient> {
    const isSocketFile = !url.startsWith("ws:");
    const requests = [["newHeads"], ["logs", {}]].map((params, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }),
    );
    if (isSocketFile) return StayingClient.#openIpc(url, requests);
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.once("open", resolve));
    const client = new StayingClient(() => socket.terminate());
    await new Promise<void>((resolve) => {
      let answers = 0;
      socket.on("message", (data: Buffer) => {
        if (!client.#take(data.toString()) && ++answers === requests.length) resolve();
      });
      // Both in one batch.
      for (const request of requests) socket.send(request);
    });
    return client;
  }

  static async #openIpc(path: string, requests: readonly string[]): Promise<StayingClient> {
    const socket: Socket = connect(path);
    const client = new StayingClient(() => socket.destroy());
    await new Promise<void>((resolve) => {
      let answers = 0;
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        const lines = text.split("\n");
        text = lines.pop()!;
        for (const line of lines)
          if (!client.#take(line) && ++answers === requests.length) resolve();
      });
      socket.write(requests.join("\n"));
    });
    return client;
  }

  leave(): void {
    this.#close();
  }

  /** True when `text` is a notice. */
  #take(text: string): boolean {
    const { params } = JSON.parse(text) as Notice;
    if (params === undefined) return false;
    const { hash, blockNumber, logIndex } = params.result;
    if (hash !== undefined) this.heads.push(hash);
    else this.logs.push(`${Number(blockNumber)}/${Number(logIndex)}`);
    return true;
  }
}

/** Connects, subscribes to everything, and then leaves politely, vanishes, or stops reading. */
class RestlessClient {
  readonly #url: string;
  readonly #habit: number;
  #socket: WebSocket | undefined;
  #turnsStalled = 0;
  connections = 0;
  timesCut = 0;

  constructor(url: string, habit: number) {
    this.#url = url;
    this.#habit = habit;
  }

  act(tick: number): void {
    if (this.#socket === undefined) this.#connect();
    else if (this.#habit % 4 === 0) this.#socket.close();
    else if (this.#habit % 4 === 1) this.#socket.terminate();
    else if (this.#habit % 4 === 2) this.#stall(this.#socket);
    // Those that are left install filters and forget them.
    else if (this.#socket.readyState === WebSocket.OPEN && tick % 3 === 0) {
      this.#socket.send(
        '{"jsonrpc":"2.0","id":9,"method":"eth_newPendingTransactionFilter","params":[]}',
      );
    } else this.#socket.terminate();
  }

  leave(): void {
    this.#socket?.terminate();
  }

  #stall(socket: WebSocket): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    this.#turnsStalled++;
    if (this.#turnsStalled < STALLED_TURNS) socket.pause();
    else {
      this.#turnsStalled = 0;
      socket.resume();
    }
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    this.connections++;
    socket.on("error", () => {});
    socket.on("close", (code) => {
      if (code === 1008 || (code === 1006 && this.#habit % 4 === 2)) this.timesCut++;
      if (this.#socket === socket) this.#socket = undefined;
    });
    socket.on("open", () => {
      const calls = [
        ["newHeads", { includeTransactions: true, transactionDetails: true }],
        ["logs", {}],
        ["newPendingTransactions", true],
        ["transactionReceipts"],
      ];
      const batch = calls.map((params, id) => ({
        jsonrpc: "2.0",
        id,
        method: "eth_subscribe",
        params,
      }));
      socket.send(JSON.stringify(batch));
    });
  }
}

async function rpc(node: TestNode, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(node.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as {
    result: unknown;
    error?: { message: string };
  };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
