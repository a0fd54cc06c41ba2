/**
 * What the log of a dev chain costs: `npm run bench -- log [ROUNDS]`. CPU microseconds a request and a transaction of a node with
 * `--log.format pretty`, whose log is read from a pipe, and of one that logs warnings alone, in turn in every round.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, median } from "../support/load.ts";
import { call, type Peer, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { sendTransactions } from "../throughput/send-transactions.ts";
import { BLOCK_GAS_LIMIT, genesisText, type Kind, senderKeys, signAll } from "../throughput/workload.ts";

const SENDERS = 100;
const TRANSACTIONS = 20_000;
const CONNECTIONS = 16;
const TOKEN = `0x${"70".repeat(20)}`;
const ACCOUNT = `0x${"11".repeat(20)}`;

const REQUESTS: Readonly<Record<string, object>> = {
  blockNumber: { method: "eth_blockNumber", params: [] },
  getBalance: { method: "eth_getBalance", params: [ACCOUNT, "latest"] },
  call: {
    method: "eth_call",
    params: [{ to: TOKEN, data: `0x70a08231${"0".repeat(24)}${"11".repeat(20)}` }, "latest"],
  },
  "unknown method": { method: "eth_getBlance", params: [] },
};

const LOADS: readonly { readonly kind: Kind; readonly blockTimeSeconds: number }[] = [
  { kind: "transfer", blockTimeSeconds: 0 },
  { kind: "transfer", blockTimeSeconds: 1 },
  { kind: "erc20", blockTimeSeconds: 0 },
];

type Figures = { off: number[]; on: number[] };

export async function run([rounds = "3"]: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const figures = new Map<string, Figures>();
  const note = (what: string, isOn: boolean, value: number) => {
    const known = figures.get(what) ?? { off: [], on: [] };
    figures.set(what, known);
    known[isOn ? "on" : "off"].push(value);
  };
  try {
    const genesisFile = join(directory, "genesis.json");
    writeFileSync(genesisFile, genesisText(senderKeys(SENDERS)));
    for (let round = 0; round < Number(rounds); round++) {
      for (const isOn of [false, true]) await measureRequests(genesisFile, isOn, note);
      for (const each of LOADS) {
        for (const isOn of [false, true]) await measureTransactions(genesisFile, isOn, each, note);
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const rows = [...figures].map(([what, { off, on }]) => ({
    what,
    "off, CPU us": median(off),
    "on, CPU us": median(on),
    "on over off": median(on) / median(off),
  }));
  printTable(rows);
  writeResult("log", rows);
}

type Note = (what: string, isOn: boolean, value: number) => void;

function startNode(genesisFile: string, isOn: boolean, blockTimeSeconds = 0): Promise<Peer> {
  return startEvmint({
    ...(blockTimeSeconds > 0 && { blockTimeSeconds }),
    readsLog: true,
    extraArguments: [
      "--genesis",
      genesisFile,
      "--consensus.gas-limit",
      `${BLOCK_GAS_LIMIT}`,
      "--mempool.account-slots",
      "100000",
      ...(isOn ? ["--log.level", "info", "--log.format", "pretty"] : []),
    ],
  });
}

async function measureRequests(genesisFile: string, isOn: boolean, note: Note): Promise<void> {
  const peer = await startNode(genesisFile, isOn);
  try {
    for (const [what, request] of Object.entries(REQUESTS)) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...request });
      await load(peer, body, { connections: 8, seconds: 1 });
      const { cpuMicrosecondsPerRequest } = await load(peer, body, { connections: 8, seconds: 2 });
      note(what, isOn, cpuMicrosecondsPerRequest);
    }
  } finally {
    await peer.stop();
  }
}

async function measureTransactions(
  genesisFile: string,
  isOn: boolean,
  { kind, blockTimeSeconds }: (typeof LOADS)[number],
  note: Note,
): Promise<void> {
  const transactions = signAll(kind, senderKeys(SENDERS), TRANSACTIONS);
  const peer = await startNode(genesisFile, isOn, blockTimeSeconds);
  try {
    const before = peer.cpuSeconds();
    await sendTransactions(peer.port, transactions, { connections: CONNECTIONS });
    for (;;) {
      const { pending } = await call<{ pending: string }>(peer.port, "txpool_status", []);
      if (Number(pending) === 0) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    const blocks = blockTimeSeconds === 0 ? "instant" : `${blockTimeSeconds} s`;
    note(`${kind}, ${blocks}`, isOn, ((peer.cpuSeconds() - before) * 1e6) / TRANSACTIONS);
  } finally {
    await peer.stop();
  }
}
