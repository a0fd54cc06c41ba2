/** The chain that the examples are recorded on: its accounts, its contract, its first blocks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeFunctionData, getContractAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_KEYS } from "../../test/support/accounts.ts";
import { contract } from "../../test/support/contracts.ts";
import type { Recorder } from "./recorder.ts";

const artifact = contract("Token");

export const ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
export const BOB = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
export const CAROL = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
export const HASH = `0x${"11".repeat(32)}`;
export const ZERO_HASH = `0x${"00".repeat(32)}`;
/** `totalSupply` of the token. */
export const SLOT = ZERO_HASH;
export const TYPED_DATA = {
  types: {
    EIP712Domain: [{ name: "name", type: "string" }],
    Mail: [{ name: "text", type: "string" }],
  },
  primaryType: "Mail",
  domain: { name: "Mail" },
  message: { text: "hello" },
};

const { abi } = artifact;
export const TRANSFER = encodeFunctionData({ abi, functionName: "transfer", args: [BOB, 5n] });
export const BALANCE_OF_ALICE = encodeFunctionData({ abi, functionName: "balanceOf", args: [ALICE] });
const SUPPLY = "3e8".padStart(64, "0");

/** Of block 0; every block is twelve seconds after the one before. */
export const GENESIS_TIME = "2026-01-01";
const BLOCK_SECONDS = 12;

const FEES = {
  chainId: 31_337,
  gas: 21_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
} as const;
const [alice, bob, carol] = DEV_KEYS.map((key) => privateKeyToAccount(key)) as [Account, Account, Account];
type Account = ReturnType<typeof privateKeyToAccount>;

/** Writes the token as a file of `--artifacts` into `folder`. */
export function writeArtifacts(folder: string): void {
  const { bytecode, runtime: deployedBytecode } = artifact;
  const text = JSON.stringify({ contractName: "Token", abi, bytecode, deployedBytecode });
  writeFileSync(join(folder, "Token.json"), text);
}

export type World = {
  readonly token: string;
  readonly deployHash: string;
  readonly transferHash: string;
  /** Hash of block 2, which has the transfer. */
  readonly block: string;
};

/** Blocks 1 to 3: the token, a transfer, a blob. Nothing in them is random, as it is in the blocks that a dev chain makes by itself. */
export async function makeWorld(r: Recorder): Promise<World> {
  await r.call("anvil_setBlockTimestampInterval", BLOCK_SECONDS);
  const data = `${artifact.bytecode}${SUPPLY}` as const;
  const deployment = await alice.signTransaction({ ...FEES, gas: 500_000n, nonce: 0, data });
  await r.call("testing_commitBlockV1", await nextBlock(r), [deployment]);
  const token = getContractAddress({ from: ALICE, nonce: 0n }).toLowerCase() as `0x${string}`;
  const transfer = { ...FEES, gas: 90_000n, nonce: 1, to: token, data: TRANSFER };
  const block = await r.call("testing_commitBlockV1", await nextBlock(r), [await alice.signTransaction(transfer)]);
  await r.call("testing_commitBlockV1", await nextBlock(r), [await blobTransaction()]);
  const hashOf = async (number: string) => (await r.call("eth_getBlockByNumber", number, false)).transactions[0];
  return { token, deployHash: await hashOf("0x1"), transferHash: await hashOf("0x2"), block };
}

/** Attributes of a block on the head. */
export async function nextBlock(r: Recorder) {
  const { timestamp } = await r.call("eth_getBlockByNumber", "latest", false);
  return {
    timestamp: `0x${(Number(timestamp) + BLOCK_SECONDS).toString(16)}`,
    prevRandao: HASH,
    suggestedFeeRecipient: BOB,
    withdrawals: [],
    parentBeaconBlockRoot: HASH,
  };
}

/** A payment of Carol to Bob, signed with her own key. */
export function signedPayment(nonce: number): Promise<string> {
  return carol.signTransaction({ ...FEES, nonce, to: BOB, value: 10n ** 18n });
}

/** As blocks have it, without its blob. */
function blobTransaction(): Promise<string> {
  const blobVersionedHashes = [`0x01${"22".repeat(31)}`] as const;
  const blob = { type: "eip4844", blobVersionedHashes, maxFeePerBlobGas: 1_000_000_000n } as const;
  return bob.signTransaction({ ...FEES, ...blob, nonce: 0, to: CAROL });
}
