import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeDeployData, encodeFunctionData, type Hex, toFunctionSelector } from "viem";
import { DEV_ADDRESSES } from "../../test/support/accounts.ts";
import { assemble, deploymentOf } from "../../test/support/assembler.ts";
import { contract } from "../../test/support/contracts.ts";
import { median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const ROUND_TRIP_MS = 50;
const [ALICE] = DEV_ADDRESSES;
const { abi, bytecode } = contract("Token");

type Receipt = { readonly contractAddress: string | null; readonly status: string };

/**
 * `npm run bench -- fork [ROUNDS]`: a chain that continues another one on this machine, at once and with the latency of a provider: milliseconds of the first transfer of a token in it, whose
 * contract and slots are fetched, and of later ones; of the first call of a contract deployed on the fork that reads ten balances of the token; and of the first transfer after a restart over what is on disk. Ours and anvil's.
 */
export async function run([roundsText = "5"]: readonly string[]): Promise<void> {
  const rounds = Number(roundsText);
  const remote = await startEvmint();
  try {
    const data = encodeDeployData({ abi, bytecode, args: [10n ** 24n] });
    const { contractAddress } = await send(remote, { data });
    const token = contractAddress!;
    // A provider has executed calls before.
    await call(remote.port, "eth_createAccessList", [{ from: ALICE, to: token }, "latest"]);
    const url = `http://127.0.0.1:${remote.port}`;
    const far = await delayed(url, ROUND_TRIP_MS);
    const rows = [];
    for (const [distance, at] of [
      ["on this machine", url],
      [`${ROUND_TRIP_MS} ms away`, far.url],
    ] as const) {
      for (const verify of ["on", "off"]) {
        rows.push({ remote: distance, ...(await measureOurs({ url: at, verify, token, rounds })) });
      }
      const anvils: number[][] = [];
      for (let round = 0; round < rounds; round++) {
        const anvil = await startAnvil({
          extraArguments: ["--fork-url", at, "--no-storage-caching"],
        });
        if (anvil === undefined) break;
        anvils.push([...(await transfers(anvil, token)), await readingMs(anvil, token)]);
        await anvil.stop();
      }
      if (anvils.length > 0) rows.push({ remote: distance, ...rowOf("anvil", anvils, undefined) });
    }
    far.close();
    printTable(rows);
    writeResult("fork", rows, { rounds });
  } finally {
    await remote.stop();
  }
}

/** `url` with the latency of a provider on the internet. */
async function delayed(url: string, roundTripMs: number) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await sleep(roundTripMs);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: Buffer.concat(chunks) });
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type OwnRun = {
  readonly url: string;
  /** of `--fork-verify` */
  readonly verify: string;
  readonly token: string;
  readonly rounds: number;
};

async function measureOurs({ url, verify, token, rounds }: OwnRun) {
  const cold: number[][] = [];
  const restarted: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    try {
      for (const times of [cold, restarted]) {
        const fork = ["--fork-url", url, "--fork-verify", verify];
        const extraArguments = times === cold ? fork : [];
        const node = await startEvmint({ home, extraArguments });
        const ms = await transfers(node, token);
        // A new contract is an account that the cache of a fork does not know.
        times.push(times === cold ? [...ms, await readingMs(node, token)] : ms);
        await node.stop();
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
  return rowOf(`evmint, fork-verify ${verify}`, cold, restarted);
}

/** Asks the token for the balances of as many accounts as one slot each. */
const BALANCES = 10;

/** Init code of a contract that reads BALANCES balances of `token`. */
function readerOf(token: string): Hex {
  const selector = toFunctionSelector("balanceOf(address)").slice(2).padEnd(64, "0");
  const reads = Array.from(
    { length: BALANCES },
    (_, i) => `
      PUSH20 ${`${i + 1}`.padStart(40, "c")} PUSH1 04 MSTORE
      PUSH1 20 PUSH1 40 PUSH1 24 PUSH1 00 PUSH20 ${token} GAS STATICCALL POP`,
  );
  const begin = `PUSH32 ${selector} PUSH1 00 MSTORE`;
  return deploymentOf(assemble(`${begin} ${reads.join(" ")} PUSH1 20 PUSH1 40 RETURN`));
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

/** Milliseconds of the first call of a contract that is on the fork alone. */
async function readingMs(peer: Peer, token: string): Promise<number> {
  const { contractAddress: to } = await send(peer, { data: readerOf(token) });
  const begin = performance.now();
  await call(peer.port, "eth_call", [{ from: ALICE, to, data: "0x01020304" }, "latest"]);
  return performance.now() - begin;
}

function rowOf(name: string, cold: readonly number[][], restarted: readonly number[][] | undefined) {
  const ms = (runs: readonly number[][], index: number) =>
    Number(median(runs.map((times) => times[index]!)).toFixed(1));
  return {
    node: name,
    "first transfer, ms": ms(cold, 0),
    "fourth transfer, ms": ms(cold, 3),
    [`a new contract reads ${BALANCES} balances, ms`]: ms(cold, 4),
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
