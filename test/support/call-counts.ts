import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { encodePooledTransaction } from "../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "./accounts.ts";

const ENTRY = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));
const CALLS_PROBE = new URL("./count-calls.mjs", import.meta.url).href;

/** Functions of the node, of its packages and of Node.js in JavaScript that a process called, the most frequent first. */
export type CallCounts = {
  readonly calls: number;
  /** Different functions: V8 has to meet each for the first time. */
  readonly functions: number;
  readonly hottest: readonly { readonly name: string; readonly calls: number }[];
};

/** A built node in a process with a probe, which answers over the channel of the processes. */
export type ProbedNode = {
  readonly pid: number;
  call<T = unknown>(method: string, params: readonly unknown[]): Promise<T>;
  /** What the probe says. */
  ask(): Promise<unknown>;
  stop(): Promise<void>;
};

export type CountedNode = Omit<ProbedNode, "ask"> & {
  /** What it called since the last time, or since it was started. */
  take(): Promise<CallCounts>;
};

/** A node that counts its calls. Load and time change no count, since nothing is optimised and nothing runs by the clock. */
export async function startCountedNode(...args: readonly string[]): Promise<CountedNode> {
  const { ask, ...node } = await startProbedNode(["--no-opt", "--import", CALLS_PROBE], args);
  return {
    ...node,
    async take() {
      const functions = (await ask()) as readonly (readonly [string, string, number, number])[];
      const hottest = functions
        .map(([url, name, at, calls]) => ({
          name: `${name || "(anonymous)"} ${url.slice(url.lastIndexOf("/") + 1)}:${at}`,
          calls,
        }))
        .sort((a, b) => b.calls - a.calls);
      return { calls: hottest.reduce((sum, { calls }) => sum + calls, 0), functions: hottest.length, hottest };
    },
  };
}

/** @param runtime arguments of Node.js, which load the probe */
export async function startProbedNode(runtime: readonly string[], args: readonly string[]): Promise<ProbedNode> {
  const home = mkdtempSync(join(tmpdir(), "evmint-counted-"));
  const child = spawn(process.execPath, [...runtime, ENTRY, ...args, "--home", home], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { PATH: process.env["PATH"] },
  });
  const exited = once(child, "exit");
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const found = /(?:http:\/\/)?(127\.0\.0\.1:\d+)/.exec(output);
      if (found) resolve(`http://${found[1]}`);
    });
    exited.then(([code]) => reject(new Error(`the node ended with ${code}: ${output}`)), reject);
  });
  return {
    pid: child.pid!,
    async call<T>(method: string, params: readonly unknown[]): Promise<T> {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const response = await fetch(url, { method: "POST", headers, body });
      const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    async ask() {
      child.send("ask");
      const [answer] = await once(child, "message");
      return answer;
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A transfer of the first dev account to an account that no chain begins with. */
export function rawTransfer(nonce: number): string {
  const tx = signTransaction(
    {
      type: 2,
      chainId: 31337n,
      nonce: BigInt(nonce),
      to: parseAddress(`0x${"aa".padStart(40, "0")}`),
      value: 1n,
      gasLimit: 21_000n,
      data: new Uint8Array(0),
      accessList: [],
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    },
    hexToBytes(DEV_KEYS[0]),
  );
  return bytesToHex(encodePooledTransaction(tx));
}

const SENDER = DEV_ADDRESSES[1];
/** Stores a word when it is created; called, it returns the first word of its call data. */
const CREATION_CODE = "0x602a600055600b6011600039600b6000f360003560005260206000f3";

/** What is counted, in the order of a test: each gets what it needs from those before it. */
export const OPERATIONS = [
  "transfer, block and receipt",
  "contract creation",
  "eth_call",
  "eth_estimateGas",
  "eth_getTransactionReceipt",
  "evm_snapshot",
  "evm_revert",
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** `prepare` makes what `run` needs, and is not counted. */
export type CountedOperation = { readonly prepare?: () => Promise<unknown>; readonly run: () => Promise<unknown> };

export function operationsOf(node: Pick<ProbedNode, "call">): Readonly<Record<Operation, CountedOperation>> {
  let nonce = 0;
  let hash = "";
  let contract = "";
  const receipt = async () => {
    for (;;) {
      const found = await node.call<{ contractAddress: string } | null>("eth_getTransactionReceipt", [hash]);
      if (found) return found;
    }
  };
  const transfer = async (of: number) => {
    hash = await node.call("eth_sendRawTransaction", [rawTransfer(of)]);
    await receipt();
  };
  let snapshot = "";
  const takeSnapshot = async () => {
    snapshot = await node.call("evm_snapshot", []);
  };
  const create = async () => {
    hash = await node.call("eth_sendTransaction", [{ from: SENDER, data: CREATION_CODE }]);
    contract = (await receipt()).contractAddress;
  };
  const callOfContract = () => ({ from: SENDER, to: contract, data: `0x${"01".repeat(32)}` });
  return {
    "transfer, block and receipt": { run: () => transfer(nonce++) },
    "contract creation": { run: create },
    eth_call: { run: () => node.call("eth_call", [callOfContract(), "latest"]) },
    eth_estimateGas: { run: () => node.call("eth_estimateGas", [callOfContract()]) },
    eth_getTransactionReceipt: { run: receipt },
    evm_snapshot: { run: takeSnapshot },
    evm_revert: {
      async prepare() {
        await takeSnapshot();
        await transfer(nonce);
      },
      run: () => node.call("evm_revert", [snapshot]),
    },
  };
}
