import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { foundryBinary } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

const token = contract("Token");
const binary = foundryBinary("cast");
const skip = binary ? false : "no cast binary for this platform on npm";
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true, settings: ONE_PROCESS });
});
after(() => node.stop());

async function cast(...args: readonly string[]): Promise<string> {
  // `--create` takes what follows it for its own, so the URL comes through the environment.
  const { stdout } = await promisify(execFile)(binary!, [...args], {
    env: { ...process.env, ETH_RPC_URL: node.url, FOUNDRY_DISABLE_NIGHTLY_WARNING: "1" },
  });
  return stdout.trim();
}

test("cast deploys, sends, calls and shows a custom error", { skip }, async () => {
  const key = ["--private-key", DEV_KEYS[0]];
  const supply = "3e8".padStart(64, "0");
  const deployed = JSON.parse(await cast("send", "--json", ...key, "--create", token.bytecode + supply)) as {
    contractAddress: string;
    status: string;
  };
  assert.equal(deployed.status, "0x1");

  const transfer = [deployed.contractAddress, "transfer(address,uint256)", DEV_ADDRESSES[1]];
  const sent = JSON.parse(await cast("send", ...key, "--json", ...transfer, "400")) as {
    status: string;
    logs: unknown[];
  };
  assert.equal(sent.status, "0x1");
  assert.equal(sent.logs.length, 1);

  const balance = await cast("call", deployed.contractAddress, "balanceOf(address)(uint256)", DEV_ADDRESSES[1]);
  assert.equal(balance, "400");
  assert.equal(await cast("chain-id"), "31337");

  await assert.rejects(
    cast("call", "--from", DEV_ADDRESSES[0], ...transfer, "601"),
    (error: Error & { stderr?: string }) => {
      assert.match(error.stderr ?? "", /execution reverted|InsufficientBalance/);
      return true;
    },
  );
});

test("cast reads a whole block", { skip }, async () => {
  const block = JSON.parse(await cast("block", "latest", "--full", "--json")) as { hash: string };
  assert.match(block.hash, /^0x[0-9a-f]{64}$/);
});

test("cast rpc bends the chain: state, snapshots, blocks, impersonation", {
  skip: skip || NEEDS_SOLO,
}, async () => {
  const stranger = "0x00000000000000000000000000000000000beef1";
  const rpc = (method: string, ...params: readonly string[]) => cast("rpc", method, ...params);
  const id = JSON.parse(await rpc("evm_snapshot")) as string;
  const number = Number(await cast("block-number"));
  assert.equal(await rpc("anvil_setBalance", stranger, "0xde0b6b3a7640000"), "null");
  assert.equal(await cast("balance", stranger), "1000000000000000000");
  await rpc("anvil_setStorageAt", stranger, "0x5", `0x${"4d".padStart(64, "0")}`);
  assert.equal(Number(await cast("storage", stranger, "5")), 77);
  await rpc("anvil_mine", "3");
  assert.equal(Number(await cast("block-number")), number + 3);
  await rpc("evm_increaseTime", "86400");
  await rpc("anvil_impersonateAccount", stranger);
  const sent = JSON.parse(
    await cast(...["send", "--json", "--unlocked", "--from", stranger], ...["--value", "7", DEV_ADDRESSES[1]]),
  ) as { status: string; from: string };
  assert.deepEqual([sent.status, sent.from.toLowerCase()], ["0x1", stranger]);
  assert.equal(await rpc("evm_revert", id), "true");
  assert.equal(await cast("balance", stranger), "0");
  assert.equal(Number(await cast("block-number")), number);
});
