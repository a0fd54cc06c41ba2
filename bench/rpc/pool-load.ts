/**
 * What becomes of transactions whose hash was answered, under load: `npm run bench -- pool-load [RUNS]`.
 *
 * - `manual`: 10 accounts × 700 transfers without a block; each batch of hashes is looked up in the next request.
 * - `blocks`: 20,000 transfers of 100 accounts at 4,000 a second into blocks of one second; each must be in a block.
 * - `restart`: the node is killed with 20,000 transfers pending; seconds from the start of the process to its first answer.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { bigintToFixedBytes } from "../../src/base/primitives/bytes.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { startEvmintd } from "../../test/support/evmintd.ts";
import { devPrivateKeys } from "../../test/support/node/keystore/unlocked-signer.ts";
import { printTable, writeResult } from "../support/report.ts";

const CHAIN_ID = 31_337n;
const ETHER = 10n ** 18n;
const BATCH = 50;
const RATE = 4_000;
const IN_FLIGHT = 8;

type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } };

export async function run([runs = "10"]: readonly string[]): Promise<void> {
  const rows = [];
  for (let round = 1; round <= Number(runs); round++) {
    for (const [load, measure] of [
      ["manual", manual],
      ["blocks", blocks],
      ["restart", restart],
    ] as const) {
      const row = { load, round, ...(await measure()) };
      rows.push(row);
      console.log(JSON.stringify(row));
    }
  }
  printTable(rows.map((row) => ({ lost: "-", "not in a block": "-", seconds: "-", ...row })));
  writeResult("pool-load", rows);
}

async function manual() {
  return withNode(["--consensus.block-time", "manual"], async ({ url }) => {
    const transfers = transfersOf(devPrivateKeys(), 700);
    let lost = 0;
    const { hashes, rejected } = await sendAll(url, transfers, async (accepted) => {
      lost += (await unknownOf(url, accepted)).length;
    });
    return { sent: transfers.length, rejected, lost: lost + (await unknownOf(url, hashes)).length };
  });
}

async function blocks() {
  return withNode(["--consensus.block-time", "1s"], async ({ url }) => {
    const keys = Array.from({ length: 100 }, (_, i) => bigintToFixedBytes(BigInt(i + 1_000), 32));
    const funding = keys.map((key, i) =>
      rawTransfer(devPrivateKeys()[i % 10]!, Math.floor(i / 10), {
        to: addressFromPrivateKey(key),
        value: 10n * ETHER,
      }),
    );
    await sendAll(url, funding);
    await untilEmpty(url);
    const transfers = transfersOf(keys, 200);
    const { hashes, rejected, seconds } = await sendAll(url, transfers, undefined, RATE);
    await untilEmpty(url);
    const receipts = await callAll(url, "eth_getTransactionReceipt", hashes);
    const missing = hashes.filter((_, i) => receipts[i]?.result == null);
    return {
      sent: transfers.length,
      rejected,
      "sent/s": Math.round(transfers.length / seconds),
      "not in a block": missing.length,
      queued: await queuedIn(url),
    };
  });
}

async function restart() {
  const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const start = () => startEvmintd(home, ["--dev", "--consensus.block-time", "manual"]);
  try {
    const first = await start();
    const { hashes, rejected } = await sendAll(first.url, transfersOf(devPrivateKeys(), 2_000));
    first.child.kill("SIGKILL");
    await first.exited;
    const begin = performance.now();
    const second = await start();
    await call(second.url, "eth_blockNumber", []);
    const seconds = (performance.now() - begin) / 1_000;
    const lost = (await unknownOf(second.url, hashes)).length;
    second.child.kill("SIGTERM");
    await second.exited;
    return { sent: hashes.length, rejected, lost, seconds };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function withNode<T>(args: readonly string[], use: (node: { readonly url: string }) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const node = await startEvmintd(home, ["--dev", ...args]);
  try {
    return await use(node);
  } finally {
    node.child.kill("SIGTERM");
    await node.exited;
    rmSync(home, { recursive: true, force: true });
  }
}

/** `count` transfers of each key, all first nonces first. */
function transfersOf(keys: readonly Uint8Array[], count: number): string[] {
  const to = addressFromPrivateKey(keys[0]!);
  return Array.from({ length: count * keys.length }, (_, n) =>
    rawTransfer(keys[n % keys.length]!, Math.floor(n / keys.length), { to, value: 1n }),
  );
}

function rawTransfer(
  key: Uint8Array,
  nonce: number,
  { to, value }: { readonly to: Address; readonly value: bigint },
): string {
  const { raw } = signTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      gasLimit: 21_000n,
      to,
      value,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
      data: new Uint8Array(),
      accessList: [],
    },
    key,
  );
  return bytesToHex(raw);
}

/** @param rate transactions a second; undefined: as fast as they are answered */
async function sendAll(
  url: string,
  transfers: readonly string[],
  onBatch?: (accepted: readonly string[]) => Promise<void>,
  rate?: number,
) {
  const hashes: string[] = [];
  let rejected = 0;
  let next = 0;
  const begin = performance.now();
  async function client(): Promise<void> {
    for (;;) {
      const at = next;
      next += BATCH;
      if (at >= transfers.length) return;
      const due = rate === undefined ? 0 : begin + (at / rate) * 1_000 - performance.now();
      if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
      const answers = await callAll(url, "eth_sendRawTransaction", transfers.slice(at, at + BATCH));
      const accepted = answers.flatMap(({ result }) => (result ? [result as string] : []));
      rejected += answers.length - accepted.length;
      hashes.push(...accepted);
      await onBatch?.(accepted);
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return { hashes, rejected, seconds: (performance.now() - begin) / 1_000 };
}

async function unknownOf(url: string, hashes: readonly string[]): Promise<readonly string[]> {
  const answers = await callAll(url, "eth_getTransactionByHash", hashes);
  return hashes.filter((_, i) => answers[i]?.result == null);
}

/** Resolves when nothing is pending; what remains queued then is stuck. */
async function untilEmpty(url: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { pending } = (await call(url, "txpool_status", [])).result as { pending: string };
    if (Number(pending) === 0) return;
    if (performance.now() > deadline) throw new Error(`${Number(pending)} are still pending`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function queuedIn(url: string): Promise<number> {
  return Number(((await call(url, "txpool_status", [])).result as { queued: string }).queued);
}

/** One call with each of `params`, in batches. */
async function callAll(url: string, method: string, params: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < params.length; at += BATCH) {
    const batch = params.slice(at, at + BATCH).map((param, id) => ({ jsonrpc: "2.0", id, method, params: [param] }));
    answers.push(...((await post(url, batch)) as Answer[]));
  }
  return answers;
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<Answer> {
  return (await post(url, { jsonrpc: "2.0", id: 1, method, params })) as Answer;
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
}
