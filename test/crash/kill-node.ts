import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChain, importBlock } from "../../src/chain/chain.ts";
import { genesisState } from "../../src/chain/genesis-block.ts";
import { createMemoryBlockStore } from "../../src/chain/store/open-block-store.ts";
import { FAIL_POINTS } from "../../src/chain/testing/fail-points.ts";
import { loadConfig } from "../../src/config/load.ts";
import { devPrivateKeys } from "../../src/keystore/testing/unlocked-signer.ts";
import { executionModules } from "../../src/node/chain/execution-modules.ts";
import { openChain } from "../../src/node/chain/open-chain.ts";
import { parseAddress } from "../../src/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/primitives/bytes.ts";
import { bytesToHex } from "../../src/primitives/hex.ts";
import { createStateTrie } from "../../src/state/state-trie.ts";
import { SILENT_LOGGER } from "../../src/telemetry/logger.ts";
import { signTransaction } from "../../src/types/transaction/sign.ts";
import { call, RpcError, startVictim } from "./victim.ts";

/** Every step of a commit at which a node may die, and "random": from outside, at any moment. */
// A full segment of the log is too rare to wait for.
const STEPS = [...FAIL_POINTS.filter((step) => step !== "log:segment"), "random"];

export type KillReport = {
  readonly kills: number;
  /** Blocks that a client saw, each checked after every later start. */
  readonly blocksSeen: number;
  readonly receiptsSeen: number;
  /** Transactions whose hash a client got, in a block or not. */
  readonly transactionsTaken: number;
  readonly head: number;
  /** From the start of the process to its first answer. */
  readonly medianStartMs: number;
  readonly slowestStartMs: number;
};

/**
 * Kills a node under load `kills` times, at each step in turn, and looks after every start whether everything a client
 * ever saw is still there. At the end a twin that nobody kills executes all blocks again.
 * @throws Error naming what was lost or differs
 */
export async function killNode(kills: number): Promise<KillReport> {
  const home = mkdtempSync(join(tmpdir(), "evmint-kill-"));
  const seen: Seen = { blocks: new Map(), receipts: new Map(), taken: new Set() };
  const startsMs: number[] = [];
  try {
    for (let kill = 0; kill < kills; kill++) {
      const step = STEPS[kill % STEPS.length]!;
      const begin = performance.now();
      const victim = await startVictim(home, step, 1 + (kill % 7));
      if (victim === undefined) continue;
      startsMs.push(performance.now() - begin);
      await checkSeen(victim.url, seen);
      // A history merge is rare, so a victim that waits for one may live on: it too is killed from outside.
      const lifeMs = step === "random" ? 100 + ((kill * 37) % 400) : 3000;
      const timer = setTimeout(() => victim.child.kill("SIGKILL"), lifeMs);
      await Promise.race([victim.exited, load(victim.url, seen)]);
      await victim.exited;
      clearTimeout(timer);
    }
    const head = executeAgain(home, seen.blocks);
    return {
      kills,
      blocksSeen: seen.blocks.size,
      receiptsSeen: seen.receipts.size,
      transactionsTaken: seen.taken.size,
      head,
      medianStartMs: startsMs.sort((a, b) => a - b)[startsMs.length >> 1]!,
      slowestStartMs: Math.max(...startsMs),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

type Seen = {
  readonly blocks: Map<number, string>;
  readonly receipts: Map<string, string>;
  readonly taken: Set<string>;
};

/** Sends transactions and notes every block and receipt the node shows, until it dies. */
async function load(url: string, seen: Seen): Promise<void> {
  const key = devPrivateKeys()[0]!;
  try {
    let nonce = BigInt(await call<string>(url, "eth_getTransactionCount", [DEV_ADDRESS, "pending"]));
    for (;;) {
      const hash = await call<string>(url, "eth_sendRawTransaction", [transfer(nonce++, key)]);
      seen.taken.add(hash);
      const block = await call<{ number: string; hash: string }>(url, "eth_getBlockByNumber", ["latest", false]);
      seen.blocks.set(Number(block.number), block.hash);
      const receipt = await call<{ blockHash: string } | null>(url, "eth_getTransactionReceipt", [hash]);
      if (receipt) seen.receipts.set(hash, receipt.blockHash);
    }
  } catch (error) {
    if (error instanceof RpcError) throw error;
    // The connection broke: the victim is dead.
  }
}

async function checkSeen(url: string, { blocks, receipts, taken }: Seen): Promise<void> {
  // Old ones were checked by starts before; a chain link holds the rest.
  for (const [number, hash] of [...blocks].slice(-50)) {
    const block = await call<{ hash: string } | null>(url, "eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
    if (block?.hash !== hash) throw new Error(`block ${number} was ${hash} and is ${block?.hash}`);
  }
  for (const [hash, blockHash] of [...receipts].slice(-50)) {
    const receipt = await call<{ blockHash: string } | null>(url, "eth_getTransactionReceipt", [hash]);
    if (receipt?.blockHash !== blockHash) throw new Error(`receipt of ${hash} is lost`);
  }
  for (const hash of [...taken].slice(-50)) {
    const tx = await call<object | null>(url, "eth_getTransactionByHash", [hash]);
    if (!tx) throw new Error(`transaction ${hash} is lost`);
  }
}

/** Validates and executes every block of the home on a chain of its own: all roots must come out the same. */
function executeAgain(home: string, blocks: ReadonlyMap<number, string>): number {
  const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
  const killed = openChain(config, SILENT_LOGGER);
  try {
    const { genesis } = killed;
    const store = createMemoryBlockStore({ createTrie: createStateTrie });
    const stateTrie = createStateTrie(store.trieNodes);
    store.appendGenesis(genesisState(genesis));
    const twin = createChain({ config: genesis.config, store, stateTrie, log: SILENT_LOGGER });
    const execution = executionModules(twin);
    const head = killed.chain.head().block.header.number;
    for (let number = 1; number <= head; number++) {
      importBlock(twin, killed.chain.block(number)!.block, execution);
    }
    for (const [number, hash] of blocks) {
      const found = killed.chain.block(number)?.block.hash;
      if (found !== hash) throw new Error(`block ${number} was ${hash} and is ${found}`);
    }
    return head;
  } finally {
    killed.store.close();
  }
}

const DEV_ADDRESS = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

function transfer(nonce: bigint, key: Uint8Array): string {
  const { raw } = signTransaction(
    {
      type: 2,
      chainId: 31337n,
      nonce,
      gasLimit: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      to: parseAddress(`0x${(0x1000n + (nonce % 50n)).toString(16).padStart(40, "0")}`),
      value: 1n,
      data: EMPTY_BYTES,
      accessList: [],
    },
    key,
  );
  return bytesToHex(raw);
}
