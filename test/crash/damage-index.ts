import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { NodeProcess } from "../storm/node-process.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { mulberry32 } from "../support/chain/random-chain.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { assertExpected, errorLinesOf } from "../support/node-log.ts";
import { until } from "../support/until.ts";
import { call, logFileIn, startVictim } from "./victim.ts";

export type DamageReport = {
  readonly homes: number;
  /** First starts that did not come to answer. */
  readonly failedStarts: number;
  /** First starts that answered some questions with an error. */
  readonly startsWithErrors: number;
  readonly answersCompared: number;
};

/** Transactions of the chain whose index is damaged. */
const TRANSACTIONS = 60;
const PAGE_BYTES = 4096;
const BATCH = 100;

/** What the first start may log. */
const DAMAGE_ERRORS = [/damaged/];

type Question = { readonly method: string; readonly params: readonly unknown[] };
type Answers = readonly {
  readonly question: Question;
  readonly answer: string | undefined;
}[];

/**
 * Damages the index of copies of a node's home, every other one of a killed node, and starts each twice. The first start
 * may fail or answer with errors, the second may not, and no answer may differ from those of the undamaged home.
 * @throws Error naming the damage and what was answered
 */
export async function damageIndex(homes: number, seed: number): Promise<DamageReport> {
  const root = mkdtempSync(join(tmpdir(), "evmint-damage-"));
  const random = mulberry32(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const report = { homes, failedStarts: 0, startsWithErrors: 0, answersCompared: 0 };
  try {
    const stopped = join(root, "stopped");
    const killed = join(root, "killed");
    const answers = await makeHome(stopped, killed);
    for (let index = 0; index < homes; index++) {
      const home = join(root, "damaged");
      copyHome(index % 2 === 0 ? stopped : killed, home);
      const damage = damageOneFile(join(home, "data"), below);
      const first = await compare(home, answers, damage);
      if (first.failure !== undefined) report.failedStarts++;
      if (first.errors > 0) report.startsWithErrors++;
      const errors = loggedErrors(home);
      assertExpected(errors, [], DAMAGE_ERRORS);
      const second = await compare(home, answers, damage);
      if (second.failure !== undefined || second.errors > 0) {
        throw new Error(`second start after ${damage}: ${second.failure ?? "answers with errors"}`);
      }
      assert.deepEqual(loggedErrors(home), errors, `the second start after ${damage} logged errors`);
      report.answersCompared += first.answers + second.answers;
      rmSync(home, { recursive: true });
    }
    return report;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** A chain with transfers, storage and logs; in one home its node was stopped, in the other killed. */
async function makeHome(stopped: string, killed: string): Promise<Answers> {
  mkdirSync(stopped);
  const first = await startVictim(stopped);
  let answers: Answers;
  try {
    answers = await makeChain(await first.httpUrl());
  } finally {
    await first.kill();
  }
  copyHome(stopped, killed);
  const second = await startVictim(stopped);
  second.signal("SIGTERM");
  await second.exited;
  assertExpected(loggedErrors(stopped), []);
  return answers;
}

/** Of all lives in a home. */
function loggedErrors(home: string): string[] {
  return errorLinesOf(readFileSync(logFileIn(home), "utf8"));
}

/** Without the socket of the node, which cannot be copied. */
function copyHome(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".ipc") });
}

async function makeChain(url: string): Promise<Answers> {
  const hashes: string[] = [];
  const send = async (to: Address | null, data: string) => {
    const raw = transaction(BigInt(hashes.length), to, data);
    hashes.push(await call<string>(url, "eth_sendRawTransaction", [raw]));
  };
  await send(null, STORE_AND_LOG);
  const receipt = await minedReceipt(url, hashes[0]!);
  const contract = parseAddress(receipt.contractAddress);
  for (let i = 1; i < TRANSACTIONS; i++) {
    if (i % 3 === 0) await send(recipient(i), "0x");
    else await send(contract, `0x${i.toString(16).padStart(64, "0")}`);
  }
  await minedReceipt(url, hashes.at(-1)!);
  const head = await call<string>(url, "eth_blockNumber", []);
  const questions = questionsAbout(hashes, contract, Number(head));
  const answers = await askAll(url, questions);
  return questions.map((question, index) => ({ question, answer: answers[index]! }));
}

function questionsAbout(hashes: readonly string[], contract: Address, head: number): readonly Question[] {
  const questions: Question[] = [];
  const add = (method: string, ...params: readonly unknown[]) => questions.push({ method, params });
  const blocks = [0, head >> 1, head].map((number) => `0x${number.toString(16)}`);
  for (const hash of hashes) add("eth_getTransactionReceipt", hash);
  for (const hash of hashes.slice(-10)) add("eth_getTransactionByHash", hash);
  for (const block of blocks) {
    add("eth_getBlockByNumber", block, true);
    add("eth_getProof", contract, ["0x1", "0x2", "0x999"], block);
    add("eth_getTransactionCount", DEV_ADDRESSES[0], block);
    add("eth_getCode", contract, block);
    for (let i = 3; i < TRANSACTIONS; i += 3) add("eth_getBalance", recipient(i), block);
    for (let i = 1; i < TRANSACTIONS; i += 5) {
      add("eth_getStorageAt", contract, `0x${i.toString(16)}`, block);
    }
  }
  add("eth_getLogs", { fromBlock: "0x0", toBlock: "latest", address: contract });
  add("eth_getLogs", { fromBlock: "0x0", toBlock: "latest", topics: [`0x${"00".repeat(31)}07`] });
  return questions;
}

/** One life of a node on `home`. @throws Error where an answer differs */
async function compare(home: string, answers: Answers, damage: string) {
  const result = { failure: undefined as string | undefined, errors: 0, answers: 0 };
  let victim: NodeProcess;
  try {
    victim = await startVictim(home);
  } catch (error) {
    return { ...result, failure: (error as Error).message };
  }
  try {
    let found: readonly (string | undefined)[];
    try {
      found = await askAll(
        await victim.httpUrl(),
        answers.map(({ question }) => question),
      );
    } catch (error) {
      return { ...result, failure: (error as Error).message };
    }
    for (const [index, { question, answer }] of answers.entries()) {
      const now = found[index];
      if (now === undefined) result.errors++;
      else result.answers++;
      if (now === undefined || now === answer) continue;
      const asked = `${question.method} ${JSON.stringify(question.params)}`;
      throw new Error(`after ${damage}: ${asked} is ${now}, was ${answer}`);
    }
    return result;
  } finally {
    victim.signal(result.errors > 0 ? "SIGTERM" : "SIGKILL");
    await victim.exited;
  }
}

/** Results as JSON, in the order of the questions; undefined where the node answers with an error. */
async function askAll(url: string, questions: readonly Question[]): Promise<(string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  for (let start = 0; start < questions.length; start += BATCH) {
    const batch = questions.slice(start, start + BATCH);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(batch.map((question, id) => ({ jsonrpc: "2.0", id, ...question }))),
    });
    const replies = (await response.json()) as { id: number; result?: unknown }[];
    replies.sort((a, b) => a.id - b.id);
    for (const reply of replies) {
      answers.push("result" in reply ? JSON.stringify(reply.result) : undefined);
    }
  }
  if (answers.length !== questions.length) throw new Error("the node left questions out");
  return answers;
}

/** Damages a file of the index in the data directory `data`; in words, what it did. */
function damageOneFile(data: string, below: (limit: number) => number): string {
  const index = join(data, "index");
  const others = [join(data, "index.state"), ...readdirSync(index).map((name) => join(index, name))].filter((file) =>
    existsSync(file),
  );
  // Nearly always the file that holds the rows.
  const file = below(8) === 0 ? others[below(others.length)]! : join(index, "data.mdb");
  const content = readFileSync(file);
  const name = file.slice(data.length + 1);
  switch (below(8)) {
    case 0:
      rmSync(file);
      return `${name} removed`;
    case 1: {
      const length = below(content.length);
      truncateSync(file, length);
      return `${name} truncated to ${length} of ${content.length}`;
    }
    case 2:
    case 3:
    case 4: {
      const page = below(Math.ceil(content.length / PAGE_BYTES));
      content.fill(0, page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, content.length));
      writeFileSync(file, content);
      return `page ${page} of ${name} zeroed`;
    }
    default: {
      const flips = Array.from({ length: 1 + below(40) }, () => below(content.length * 8));
      for (const bit of flips) content[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(file, content);
      return `bits ${flips.join(" ")} of ${name} flipped`;
    }
  }
}

/** Stores its argument under itself, and logs it as a topic: creation code. */
const STORE_AND_LOG = `0x6b${"60003580805560006000a100"}600052600c6014f3`;

function recipient(i: number): Address {
  return parseAddress(`0x${(0x5000 + i).toString(16).padStart(40, "0")}`);
}

function transaction(nonce: bigint, to: Address | null, data: string): string {
  const { raw } = signTransaction(
    {
      type: 2,
      chainId: 31337n,
      nonce,
      gasLimit: 100_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      to,
      value: data === "0x" ? 7n : 0n,
      data: hexToBytes(data),
      accessList: [],
    },
    devPrivateKeys()[0]!,
  );
  return bytesToHex(raw);
}

async function minedReceipt(url: string, hash: string): Promise<{ contractAddress: string }> {
  let receipt: { contractAddress: string } | null = null;
  await until(async () => {
    receipt = await call<{ contractAddress: string } | null>(url, "eth_getTransactionReceipt", [hash]);
    return receipt !== null;
  }, `the receipt of ${hash}`);
  return receipt!;
}
