import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { type Abi, decodeFunctionResult, encodeFunctionData } from "viem";
import { oracleGenesisAccount } from "../../../scripts/checkpoint-oracle.ts";
import { sign } from "../../../src/base/crypto/secp256k1.ts";
import { parseAddress } from "../../../src/base/primitives/address.ts";
import type { Hash } from "../../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../../src/base/primitives/hex.ts";
import { checkpointHash } from "../../../src/heritage/les/checkpoints/checkpoint.ts";
import { setCheckpointData, voteDigest } from "../../../src/heritage/les/oracle.ts";
import { renderGenesis } from "../../../src/node/config/genesis/genesis.ts";
import { DEV_BALANCE } from "../../../src/node/keystore/dev-accounts.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../../support/accounts.ts";
import { overHttp } from "../../support/clients.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const ORACLE = parseAddress("0x00000000000000000000000000000000000c8ec4");
const { abi } = JSON.parse(readFileSync("contracts/CheckpointOracle.json", "utf8")) as { abi: Abi };
const SIZES = { sectionSize: 128, confirmations: 1 };
const admins = DEV_ADDRESSES.slice(0, 2).map(parseAddress);

const directory = mkdtempSync(join(tmpdir(), "evmint-oracle-"));
after(() => rmSync(directory, { recursive: true, force: true }));
let node: TestNode | undefined;
afterEach(() => node?.stop());

/** A dev chain with the oracle in block 0, its clock by hand. */
async function start(threshold: number, signer: string): Promise<TestNode> {
  const alloc = new Map(DEV_ADDRESSES.map((each) => [parseAddress(each), DEV_BALANCE]));
  const genesis = JSON.parse(renderGenesis({ chainId: 31_337n, timestamp: 1_700_000_000, alloc }));
  genesis.alloc[ORACLE] = oracleGenesisAccount({ ...SIZES, admins, threshold });
  const file = join(directory, `genesis-${threshold}.json`);
  writeFileSync(file, JSON.stringify(genesis));
  node = await startTestNode({
    dev: true,
    settings: {
      genesis: file,
      "consensus.block-time": "manual",
      "les.checkpoint-oracle": ORACLE,
      "les.checkpoint-signer": signer,
    },
    limits: { checkpoints: SIZES },
  });
  return node;
}

async function read(functionName: string): Promise<unknown> {
  const data = encodeFunctionData({ abi, functionName });
  const { result } = await overHttp(node!.url, "eth_call", [{ to: ORACLE, data }, "latest"]);
  return decodeFunctionResult({ abi, functionName, data: result as `0x${string}` });
}

/** Makes blocks until the vote of the node has one. */
async function untilVoted(): Promise<void> {
  for (;;) {
    const { result } = await overHttp(node!.url, "txpool_status");
    if ((result as { pending: string }).pending !== "0x0") break;
  }
  node!.produceBlock();
}

async function latest() {
  const { result } = await overHttp(node!.url, "les_getCheckpoint", [0]);
  const [sectionHead, chtRoot, bloomRoot] = result as [Hash, Hash, Hash];
  return checkpointHash({ sectionIndex: 0, sectionHead, chtRoot, bloomRoot });
}

test("the signer's node votes for a new checkpoint, and the contract has it", async () => {
  const { produceBlock } = await start(1, admins[0]!);
  assert.deepEqual(
    ((await read("GetAllAdmin")) as string[]).map((each) => each.toLowerCase()),
    admins,
  );
  for (let i = 0; i < 129; i++) produceBlock();
  await untilVoted();
  const height = BigInt(node!.node.core.chain.head().block.header.number);
  assert.deepEqual(await read("GetLatestCheckpoint"), [0n, await latest(), height]);
});

test("with a threshold of two the vote of one is counted, and that of another sets it", async () => {
  const { produceBlock, url } = await start(2, admins[0]!);
  for (let i = 0; i < 129; i++) produceBlock();
  await untilVoted();
  const hash = await latest();
  assert.deepEqual(await read("GetLatestCheckpoint"), [0n, `0x${"00".repeat(32)}`, 0n]);
  const vote = async (index: number, key: number) => {
    const { number, parentHash: recentHash } = node!.node.core.chain.head().block.header;
    const signature = sign(voteDigest(ORACLE, 0, hash), hexToBytes(DEV_KEYS[key]!));
    const recentNumber = number - 1;
    const data = setCheckpointData({ recentNumber, recentHash, hash, sectionIndex: 0, signature });
    const from = DEV_ADDRESSES[index];
    const { error } = await overHttp(url, "eth_sendTransaction", [{ from, to: ORACLE, data: bytesToHex(data) }]);
    produceBlock();
    return error?.code;
  };
  // A stranger with an admin's signature, an admin with a stranger's, and the same admin twice.
  assert.equal(await vote(2, 1), 3);
  assert.equal(await vote(1, 2), 3);
  assert.equal(await vote(0, 0), undefined);
  assert.deepEqual(await read("GetLatestCheckpoint"), [0n, `0x${"00".repeat(32)}`, 0n]);
  assert.equal(await vote(1, 1), undefined);
  const [index, stored, height] = (await read("GetLatestCheckpoint")) as [bigint, string, bigint];
  assert.deepEqual([index, stored], [0n, hash]);
  assert.ok(height > 0n);
});
