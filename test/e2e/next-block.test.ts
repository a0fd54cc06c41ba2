/** What is estimated and proposed without a block is for the block that comes next, whatever was set by hand. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Logger, SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { overHttp } from "../support/clients.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

const [ALICE] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";

/** Remembers number, time, base fee, coinbase and randomness of its block: whatever has changed since its last call costs gas. */
const WITNESS = assemble(
  ["NUMBER", "TIMESTAMP", "BASEFEE", "COINBASE", "DIFFICULTY"]
    .map((value, slot) => {
      const end = (slot * 15 + 13).toString(16).padStart(2, "0");
      return `${value} DUP1 PUSH1 0${slot} SLOAD EQ PUSH1 ${end} JUMPI DUP1 PUSH1 0${slot} SSTORE JUMPDEST POP`;
    })
    .join("\n"),
);

type Transaction = Readonly<Record<string, string>>;
type Receipt = { readonly status: string; readonly gasUsed: string; readonly contractAddress: string };

type Call = readonly [method: string, ...params: unknown[]];

/** What is set by hand; times are seconds after the head. */
const settings: Readonly<Record<string, readonly Call[]>> = {
  nothing: [],
  "a clock that is ahead": [["evm_increaseTime", 1_000]],
  "the next block's time": [["evm_setNextBlockTimestamp", 500]],
  "7 s from block to block": [["anvil_setBlockTimestampInterval", 7]],
  "a base fee of 300 gwei": [["anvil_setNextBlockBaseFeePerGas", "0x45d964b800"]],
  "a base fee of 0": [["anvil_setNextBlockBaseFeePerGas", "0x0"]],
  "all of it": [
    ["evm_increaseTime", 1_000],
    ["anvil_setNextBlockBaseFeePerGas", "0x45d964b800"],
    ["anvil_setCoinbase", STRANGER],
    ["hardhat_setPrevRandao", `0x${"5a".repeat(32)}`],
  ],
};
const minings = ["automine", "by hand", "by hand, after another transaction"] as const;

async function startRemote() {
  const home = mkdtempSync(join(tmpdir(), "evmint-remote-"));
  const { url, child, exited } = await startEvmintd(home, ["--dev"]);
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(home, { recursive: true, force: true });
  };
  return { url, stop };
}

for (const chain of ["a chain of its own", "a fork"] as const) {
  describe(`on ${chain} a transaction`, () => {
    let node: TestNode;
    let remote: Awaited<ReturnType<typeof startRemote>> | undefined;
    let witness: string;
    /** What the log says about transactions that wait. */
    const warnings: unknown[] = [];
    const log: Logger = {
      ...SILENT_LOGGER,
      child: () => log,
      warn: (message, data) => {
        if (message === "pending transactions are not included in blocks") warnings.push(data);
      },
    };

    const call = async <T = string>(method: string, ...params: unknown[]): Promise<T> => {
      const { result, error } = await overHttp(node.url, method, params);
      assert.equal(error, undefined, `${method}: ${error?.message}`);
      return result as T;
    };
    const send = (tx: Transaction) => call("eth_sendTransaction", { from: ALICE, ...tx });
    const receipt = (hash: string) => call<Receipt | null>("eth_getTransactionReceipt", hash);

    before(async () => {
      remote = chain === "a fork" ? await startRemote() : undefined;
      node = await startTestNode({
        dev: true,
        log,
        settings: { ...ONE_PROCESS, ...(remote && { "dev.fork-url": remote.url }) },
      });
      const deployed = await receipt(await send({ data: deploymentOf(WITNESS) }));
      witness = deployed!.contractAddress;
      await send({ to: witness });
    });
    after(async () => {
      await node.stop();
      await remote?.stop();
    });

    async function arrange(calls: readonly Call[], mining: (typeof minings)[number]) {
      if (mining !== "automine") await call("evm_setAutomine", false);
      const { timestamp } = await call<{ timestamp: string }>("eth_getBlockByNumber", "latest", false);
      for (const [method, ...params] of calls) {
        const isTime = method === "evm_setNextBlockTimestamp";
        await call(method, ...(isTime ? [Number(timestamp) + (params[0] as number)] : params));
      }
      if (mining.endsWith("transaction")) await send({ to: STRANGER, value: "0x1" });
    }

    async function assertSucceeds(hash: string, mining: (typeof minings)[number], what: string) {
      if (mining !== "automine") await call("evm_mine");
      const made = await receipt(hash);
      assert.equal(made?.status, "0x1", what);
    }

    const ways: Readonly<Record<string, () => Promise<string>>> = {
      "sent with what was estimated": async () =>
        send({ to: witness, gas: await call("eth_estimateGas", { from: ALICE, to: witness }) }),
      "sent without a gas limit": () => send({ to: witness }),
      "sent as it was filled": async () => {
        const filled = await call<{ tx: Transaction }>("eth_fillTransaction", { from: ALICE, to: witness });
        const { to, gas, maxFeePerGas, maxPriorityFeePerGas } = filled.tx;
        return send({ to: to!, gas: gas!, maxFeePerGas: maxFeePerGas!, maxPriorityFeePerGas: maxPriorityFeePerGas! });
      },
      "sent with the proposed price": async () => send({ to: witness, gasPrice: await call("eth_gasPrice") }),
      "sent with an access list": async () => {
        const tx = { from: ALICE, to: witness };
        const { accessList } = await call<{ accessList: unknown }>("eth_createAccessList", tx);
        const gas = await call("eth_estimateGas", { ...tx, accessList });
        return call("eth_sendTransaction", { ...tx, gas, accessList });
      },
    };
    test("that pays less than the base fee is rejected where it would wait for ever", async () => {
      const tx = { from: ALICE, to: STRANGER, gas: "0x5208", gasPrice: "0x3b9aca00" };
      const id = await call("evm_snapshot");
      await call("anvil_setNextBlockBaseFeePerGas", "0x77359400");
      const { error } = await overHttp(node.url, "eth_sendTransaction", [tx]);
      assert.equal(error?.code, -32000);
      assert.equal(
        error.message,
        `max fee per gas less than block base fee: address ${ALICE}, maxFeePerGas: 1000000000, baseFee: 2000000000`,
      );
      // A block by hand can bring a lower one before it.
      await call("evm_setAutomine", false);
      const hash = await send(tx);
      await call("evm_setAutomine", true);
      await node.untilLogged(/pending transactions are not included in blocks/);
      assert.deepEqual(warnings, [
        {
          waiting: 1,
          belowBaseFee: 1,
          first: hash,
          maxFeePerGas: 1_000_000_000n,
          baseFeePerGas: 2_000_000_000n,
        },
      ]);
      await call("evm_revert", id);
      await call("evm_setAutomine", true);
    });

    // Over a fork one way is enough: what differs is the state below.
    for (const [way, act] of Object.entries(ways).slice(0, chain === "a fork" ? 1 : undefined)) {
      test(`${way} succeeds, whatever was set by hand, and whoever makes the block`, async () => {
        for (const [name, calls] of Object.entries(settings)) {
          for (const mining of minings) {
            const id = await call("evm_snapshot");
            await arrange(calls, mining);
            await assertSucceeds(await act(), mining, `${name}, ${mining}`);
            await call("evm_revert", id);
            await call("evm_setAutomine", true);
          }
        }
      });
    }
  });
}
