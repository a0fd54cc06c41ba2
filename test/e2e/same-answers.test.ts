import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { WebSocket } from "ws";
import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { assemble } from "../support/assembler.ts";
import { openWs } from "../support/clients.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { ENDING_REQUESTS, LAST_REQUEST, type OddChain, oddRequests, SILENT_REQUESTS } from "../support/odd-requests.ts";
import { openRaw, rawPost } from "../support/raw-socket.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const CHAIN_ID = 9_000n;
const REVERTER = `0x${"4e".repeat(20)}` as Address;
const PROCESSES = ["0", "1"] as const;
/** Of the syncing subscription, and of the new transactions, each by its hash and as a whole: the right one, its replacement, one after a gap that is none. */
const NOTICES = 5;
/** Ids of filters and subscriptions are random, without zeros before them. */
const RANDOM_ID = /"0x[0-9a-f]{24,32}"/g;

const [rich, used, poor, richToo] = devPrivateKeys() as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const chain: OddChain = {
  chainId: CHAIN_ID,
  rich,
  richAddress: addressFromPrivateKey(rich),
  used,
  poor,
  reverter: REVERTER,
};

let folder: string;
let nodes: readonly TestNode[];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "evmint-same-"));
  const genesis = join(folder, "genesis.json");
  writeFileSync(genesis, genesisText());
  // No block comes on its own: both chains stay the same.
  const settings = {
    "json-rpc.api": "eth,net,web3,txpool,debug,miner",
    "consensus.block-time": "1h",
    ...WITH_METRICS,
  };
  nodes = await Promise.all(
    PROCESSES.map((processes) =>
      startTestNode({ genesis, settings: { ...settings, "json-rpc.processes": processes } }),
    ),
  );
});

after(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  rmSync(folder, { recursive: true });
});

test("an odd request has the same answer with RPC processes and without, byte for byte", {
  skip: NEEDS_SOLO,
}, async () => {
  const differences: string[] = [];
  for (const [name, body] of oddRequests(chain)) {
    // What is too long is refused by its length, before it is there.
    const ask = name === LAST_REQUEST ? postHead : post;
    const [without, withProcesses] = await Promise.all(nodes.map(({ url }) => ask(url, body)));
    if (without !== withProcesses) differences.push(`${name}\n  without: ${without}\n  with:    ${withProcesses}`);
  }
  assert.equal(differences.join("\n"), "");
  assert.ok((await metricOf(nodes[1]!, "rpc_process_connections")) > 0);
});

test("over WebSocket as well, with subscriptions", { skip: NEEDS_SOLO }, async () => {
  const subscriptions = [
    ["newHeads"],
    ["newPendingTransactions"],
    ["newPendingTransactions", true],
    ["logs", {}],
    ["logs", { topics: ["0x1"] }],
    ["syncing"],
    ["nothing"],
    [],
    [7],
  ].map((params) => [
    `eth_subscribe ${JSON.stringify(params)}`,
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }),
  ]) as (readonly [string, string])[];
  const open = () => Promise.all(nodes.map(({ wsUrl }) => LineSocket.open(wsUrl)));
  const differences: string[] = [];
  const compare = async (sockets: readonly LineSocket[], [name, body]: readonly [string, string]) => {
    const ask = (socket: LineSocket) =>
      ENDING_REQUESTS.has(name) ? socket.end(body) : socket.ask(body, SILENT_REQUESTS.has(name));
    const answers = await Promise.all(sockets.map(ask));
    // Whether the frame that closes a socket arrives depends on what of the request is unread by then.
    if (name === LAST_REQUEST) answers.fill("ended");
    if (answers[0] !== answers[1]) {
      differences.push(`${name}\n  without: ${answers[0]}\n  with:    ${answers[1]}`);
    }
  };
  const subscribed = await open();
  for (const each of subscriptions) await compare(subscribed, each);
  let sockets = await open();
  for (const each of oddRequests({ ...chain, rich: richToo, richAddress: addressFromPrivateKey(richToo) })) {
    if (sockets.some(({ hasEnded }) => hasEnded)) sockets = await open();
    await compare(sockets, each);
  }
  assert.equal(differences.join("\n"), "");
  const [without, withProcesses] = await Promise.all(subscribed.map((socket) => socket.noticesOf(NOTICES)));
  assert.deepEqual(withProcesses, without);
  for (const socket of [...sockets, ...subscribed]) socket.close();
});

function genesisText(): string {
  const alloc = new Map([rich, used, richToo].map((key) => [addressFromPrivateKey(key), 10n ** 20n]));
  const genesis = JSON.parse(renderGenesis({ chainId: CHAIN_ID, timestamp: 1_700_000_000, alloc })) as {
    readonly alloc: Record<string, unknown>;
  };
  genesis.alloc[addressFromPrivateKey(used)] = { balance: "0x56bc75e2d63100000", nonce: "0x5" };
  const code = assemble("CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 REVERT");
  genesis.alloc[REVERTER] = { balance: "0x0", nonce: "0x1", code };
  return JSON.stringify(genesis);
}

async function post(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { status, headers } = response;
  return `${status} ${headers.get("content-type")} ${plain(await response.text())}`;
}

/** Sends the head of a request alone. */
async function postHead(url: string, body: string): Promise<string> {
  const { socket, closed } = await openRaw(url);
  socket.write(rawPost(body).slice(0, -body.length));
  return (await closed).replace(/^Date: .*$/im, "Date");
}

function plain(text: string): string {
  return text.replace(RANDOM_ID, '"a random id"');
}

/** A socket whose messages are read as they come. */
class LineSocket {
  readonly #socket: WebSocket;
  readonly #answers: string[] = [];
  readonly notices: string[] = [];
  #end: string | undefined;
  #wake: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const text = plain(data.toString());
      (text.includes('"eth_subscription"') ? this.notices : this.#answers).push(text);
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", (code) => {
      this.#end = `closed with ${code}`;
      this.#wake();
    });
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  static async open(url: string): Promise<LineSocket> {
    return new LineSocket(await openWs(url));
  }

  /** The answer to `body`, or how the socket ended; what subscriptions tell meanwhile is in `notices`. */
  async ask(body: string, isSilent: boolean): Promise<string> {
    const last = '"id":"the last one"';
    this.#socket.send(body);
    // Its answer says that there is none to a silent request.
    if (isSilent) this.#socket.send(`{"jsonrpc":"2.0",${last},"method":"eth_chainId","params":[]}`);
    await this.#until(() => this.#answers.length > 0 || this.#end !== undefined);
    return this.#answers.splice(0).join("\n") || this.#end!;
  }

  /** What is answered to `body` before it ends the socket, and how. */
  async end(body: string): Promise<string> {
    this.#socket.send(body);
    await this.#until(() => this.#end !== undefined);
    return [...this.#answers.splice(0), this.#end!].join("\n");
  }

  /** The first so many notices, sorted: those of one subscription have an order, those of several have none. */
  async noticesOf(count: number): Promise<readonly string[]> {
    await this.#until(() => this.notices.length >= count);
    return this.notices.toSorted();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#socket.close();
  }
}
