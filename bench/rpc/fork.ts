import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeDeployData, encodeFunctionData } from "viem";
import { DEV_ADDRESSES } from "../../test/support/accounts.ts";
import { contract } from "../../test/support/contracts.ts";
import { median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const [ALICE] = DEV_ADDRESSES;
const { abi, bytecode } = contract("Token");

type Receipt = { readonly contractAddress: string | null; readonly status: string };

/**
 * `npm run bench -- fork [ROUNDS]`: a chain that continues another one on this machine: milliseconds of the first transfer of a token in it, whose
 * contract and slots are fetched, and of later ones; and of the first transfer after a restart over what is on disk. Ours and anvil's.
 */
export async function run([roundsText = "5"]: readonly string[]): Promise<void> {
  const rounds = Number(roundsText);
  const remote = await startEvmint();
  try {
    const data = encodeDeployData({ abi, bytecode, args: [10n ** 24n] });
    const { contractAddress } = await send(remote, { data });
    const token = contractAddress!;
    const url = `http://127.0.0.1:${remote.port}`;
    const rows = [await measureOurs(url, token, rounds)];
    const anvils: number[][] = [];
    for (let round = 0; round < rounds; round++) {
      const anvil = await startAnvil({
        extraArguments: ["--fork-url", url, "--no-storage-caching"],
      });
      if (anvil === undefined) break;
      anvils.push(await transfers(anvil, token));
      await anvil.stop();
    }
    if (anvils.length > 0) rows.push(rowOf("anvil", anvils, undefined));
    printTable(rows);
    writeResult("fork", rows, { rounds });
  } finally {
    await remote.stop();
  }
}

async function measureOurs(url: string, token: string, rounds: number) {
  const cold: number[][] = [];
  const restarted: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    try {
      for (const times of [cold, restarted]) {
        const extraArguments = times === cold ? ["--fork-url", url] : [];
        const node = await startEvmint({ home, extraArguments });
        times.push(await transfers(node, token));
        await node.stop();
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
  return rowOf("evmint", cold, restarted);
}

/** Milliseconds of the first transfer and of three more. */
async function transfers(peer: Peer, token: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 4; i++) {
    const to = `0x${"00".repeat(18)}bee${i}`;
    const data = encodeFunctionData({ abi, functionName: "transfer", args: [to, 1n] });
    const begin = performance.now();
    await send(peer, { to: token, data });
    times.push(performance.now() - begin);
  }
  return times;
}

function rowOf(
  name: string,
  cold: readonly number[][],
  restarted: readonly number[][] | undefined,
) {
  const ms = (runs: readonly number[][], index: number) =>
    Number(median(runs.map((times) => times[index]!)).toFixed(1));
  return {
    node: name,
    "first transfer, ms": ms(cold, 0),
    "fourth transfer, ms": ms(cold, 3),
    "first after a restart without the remote, ms": restarted ? ms(restarted, 0) : "",
  };
}

async function send({ name, port }: Peer, tx: Readonly<Record<string, string>>): Promise<Receipt> {
  const fields = { from: ALICE, gas: "0x200000", ...tx };
  const hash = await call<string>(port, "eth_sendTransaction", [fields]);
  for (;;) {
    const receipt = await call<Receipt | null>(port, "eth_getTransactionReceipt", [hash]);
    if (receipt === null) continue;
    if (receipt.status !== "0x1") throw new Error(`a transaction of ${name} failed`);
    return receipt;
  }
}
