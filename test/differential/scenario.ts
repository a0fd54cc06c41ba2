import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import type { TransactionFields } from "../../src/base/types/transaction/codec.ts";
import { signAuthorization, signTransaction } from "../../src/base/types/transaction/sign.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import { DEV_HARDFORKS, type DevHardfork, NEWEST_HARDFORK } from "../../src/node/config/dev-rules.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode } from "../support/test-node.ts";
import { send } from "./geth.ts";
import { PROGRAMS } from "./programs.ts";

export type ChainFiles = { readonly genesisFile: string; readonly chainFile: string };

const CHAIN_ID = 9000n;
const GENESIS_TIME = 1_700_000_000;
const ETHER = 10n ** 18n;
const CREATE2_DEPLOYER = parseAddress("0x4e59b44847b379578588920ca78fbf26c0b4956c");
const [ALICE, BOB, CAROL] = DEV_ADDRESSES.map(parseAddress) as [never, never, never];
const KEYS = DEV_KEYS.map((key) => hexToBytes(key));

/** The rules of a chain that is made here; one at Shanghai has the later forks before it. */
export type ScenarioFork = "shanghai" | "osaka" | "amsterdam";

/** Growth of the state costs more from Amsterdam on: with these gas limits about as many transactions succeed as before. */
const GAS_FACTOR = { osaka: 1n, amsterdam: 4n };

/** When each fork of the chain at Shanghai begins, in Unix seconds. */
export const UPGRADE_TIMES: ReadonlyMap<DevHardfork, number> = new Map(
  DEV_HARDFORKS.slice(DEV_HARDFORKS.indexOf("shanghai")).map((fork, i) => [fork, GENESIS_TIME + 1_000 * i]),
);

/** Transactions of one sender, nonces counted. */
function createSender(index: number, gasFactor: bigint) {
  let nonce = 0n;
  return {
    skipNonce: () => nonce++,
    send(fields: Partial<TransactionFields>): Hex {
      const common = {
        nonce: nonce++,
        gasLimit: 300_000n * gasFactor,
        to: BOB,
        value: 0n,
        data: new Uint8Array(),
      };
      const type = fields.type ?? 2;
      const priced =
        type === 0
          ? { chainId: CHAIN_ID, gasPrice: 2n * 10n ** 9n }
          : type === 1
            ? { chainId: CHAIN_ID, gasPrice: 2n * 10n ** 9n, accessList: [] }
            : {
                chainId: CHAIN_ID,
                maxFeePerGas: 3n * 10n ** 9n,
                maxPriorityFeePerGas: 10n ** 9n,
                accessList: [],
              };
      const complete = { ...common, ...priced, ...fields, type } as TransactionFields;
      return bytesToHex(signTransaction(complete, KEYS[index]!).raw);
    },
  };
}

/** Blocks of transactions that do everything worth a trace; each list is one block. */
function scenarioBlocks(fork: ScenarioFork): readonly (readonly Hex[])[] {
  if (fork === "shanghai") return [[]];
  const gasFactor = GAS_FACTOR[fork];
  const alice = createSender(0, gasFactor);
  const bob = createSender(1, gasFactor);
  const token = contract("Token");
  const tokenCode = hexToBytes(`${token.bytecode}${"0".repeat(58)}0f4240`);
  const slot = `0x${"00".repeat(31)}01` as never;
  const word = (address: string) => address.slice(2).toLowerCase().padStart(64, "0");
  const amount = (value: number) => value.toString(16).padStart(64, "0");
  const blobHash = `0x01${"ab".repeat(31)}` as never;

  const transfers = [
    alice.send({ type: 0, value: ETHER }),
    alice.send({ type: 0, chainId: undefined, value: 1n } as never),
    alice.send({ type: 1, accessList: [{ address: BOB, storageKeys: [slot] }] } as never),
    alice.send({ value: 5n, data: Uint8Array.of(0, 1, 2) }),
    alice.send({ to: ALICE }),
  ];
  const tokenAddress = createAddress(ALICE, 5n);
  const creations = [
    alice.send({ to: null, data: tokenCode, gasLimit: 3_000_000n * gasFactor }),
    alice.send({ to: null, data: new Uint8Array() }),
    alice.send({ to: null, data: hexToBytes("0x00"), value: 3n }),
    alice.send({ to: null, data: hexToBytes("0x60ff60005260206000fd") }),
    alice.send({ to: null, data: hexToBytes("0xfe") }),
    alice.send({ to: null, data: hexToBytes("0x60ef60005360016000f3") }),
    alice.send({ to: null, data: hexToBytes("0x6160016000f3"), gasLimit: 10_000_000n }),
    alice.send({ to: null, data: hexToBytes("0x6120006000f3"), gasLimit: 60_000n }),
    alice.send({ to: null, data: hexToBytes("0x33ff"), value: 9n }),
    alice.send({ to: CREATE2_DEPLOYER, data: hexToBytes(`0x${"00".repeat(32)}60016000f3`) }),
  ];
  const tokens = [
    alice.send({ to: tokenAddress, data: hexToBytes(`0xa9059cbb${word(BOB)}${amount(77)}`) }),
    bob.send({ to: tokenAddress, data: hexToBytes(`0xa9059cbb${word(ALICE)}${amount(78)}`) }),
    bob.send({
      to: tokenAddress,
      data: hexToBytes(`0x23b872dd${word(ALICE)}${word(BOB)}${amount(1)}`),
    }),
    alice.send({ to: tokenAddress, data: hexToBytes(`0x095ea7b3${word(BOB)}${amount(10)}`) }),
    bob.send({
      to: tokenAddress,
      data: hexToBytes(`0x23b872dd${word(ALICE)}${word(CAROL)}${amount(4)}`),
    }),
  ];
  const plain = PROGRAMS.filter(({ name }) => name !== "delegated");
  const half = Math.ceil(plain.length / 2);
  const runs = (programs: typeof plain) =>
    programs.map(({ address, name }) =>
      alice.send({
        to: address,
        value: name.includes("Value") ? 5n : 0n,
        data: hexToBytes("0x00010203ff"),
        gasLimit: (name === "recursive" ? 1_000_000n : 200_000n) * gasFactor,
      }),
    );
  const firstRuns = runs(plain.slice(0, half));
  const secondRuns = runs(plain.slice(half));
  const halted = PROGRAMS.filter(({ name }) => /^(sstore|log|create|call|keccak|exp|ext)/.test(name));
  const starved = halted.map(({ address }, i) =>
    alice.send({ to: address, gasLimit: 21_100n + BigInt(i % 9) * 2_700n }),
  );
  const sstore = PROGRAMS.find(({ name }) => name === "sstoreNew")!.address;
  const aliceNonce = alice.skipNonce();
  const own = signAuthorization({ chainId: 0n, address: sstore, nonce: aliceNonce + 1n }, KEYS[0]!);
  const carol = signAuthorization({ chainId: CHAIN_ID, address: sstore, nonce: 0n }, KEYS[2]!);
  const wrong = signAuthorization({ chainId: 1n, address: sstore, nonce: 0n }, KEYS[2]!);
  const clear = signAuthorization({ chainId: CHAIN_ID, address: `0x${"00".repeat(20)}` as never, nonce: 1n }, KEYS[2]!);
  const delegations = [
    alice.send({
      type: 4,
      nonce: aliceNonce,
      to: CAROL,
      authorizationList: [own, carol, wrong],
    } as never),
  ];
  // Alice's own authorization used up a nonce.
  const later = [
    bob.send({ to: CAROL, value: 1n }),
    bob.send({ to: ALICE, gasLimit: 30_000n }),
    bob.send({ type: 4, to: sstore, authorizationList: [clear] } as never),
    bob.send({
      type: 3,
      maxFeePerBlobGas: 10n ** 9n,
      blobVersionedHashes: [blobHash, blobHash],
    } as never),
    bob.send({
      type: 3,
      to: sstore,
      gasLimit: 23_000n,
      maxFeePerBlobGas: 10n ** 9n,
      blobVersionedHashes: [blobHash],
    } as never),
  ];
  return [transfers, creations, [], tokens, firstRuns, secondRuns, starved, delegations, later, []];
}

/** A chain under the rules of `fork`, made by this node: a genesis file and the blocks after it as RLP, in `dir`. */
export async function writeScenarioChain(dir: string, fork: ScenarioFork): Promise<ChainFiles> {
  const files = { genesisFile: join(dir, `${fork}-genesis.json`), chainFile: join(dir, `${fork}-chain.rlp`) };
  writeFileSync(files.genesisFile, scenarioGenesis(fork));
  const home = mkdtempSync(join(tmpdir(), "evmint-scenario-"));
  const settings = {
    "consensus.block-time": "manual",
  };
  const node = await startTestNode({ genesis: files.genesisFile, home, settings });
  try {
    const rpc = async (method: string, params: readonly unknown[]) => {
      const token = signJwt({ iat: Math.floor(Date.now() / 1000) }, readJwtSecret(home));
      const { result, error } = await send(node.url, method, params, {
        authorization: `Bearer ${token}`,
      });
      if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result as string;
    };
    const raw: Buffer[] = [];
    for (const [i, transactions] of scenarioBlocks(fork).entries()) {
      const attributes = {
        timestamp: `0x${(GENESIS_TIME + 12 * (i + 1)).toString(16)}`,
        prevRandao: `0x${(i + 1).toString(16).padStart(64, "0")}`,
        suggestedFeeRecipient: CAROL,
        withdrawals: i === 2 ? [{ index: "0x0", validatorIndex: "0x1", address: BOB, amount: "0x5" }] : [],
        ...(fork !== "shanghai" && { parentBeaconBlockRoot: `0x${"be".repeat(32)}` }),
      };
      await rpc("testing_commitBlockV1", [attributes, transactions]);
      const block = await rpc("debug_getRawBlock", ["latest"]);
      raw.push(Buffer.from(block.slice(2), "hex"));
    }
    writeFileSync(files.chainFile, Buffer.concat(raw));
  } finally {
    await node.stop();
    rmSync(home, { recursive: true, force: true });
  }
  return files;
}

function scenarioGenesis(fork: ScenarioFork): string {
  const alloc = new Map([
    [ALICE, 1000n * ETHER],
    [BOB, 1000n * ETHER],
  ]);
  const isUpgraded = fork === "shanghai";
  const hardfork = isUpgraded ? NEWEST_HARDFORK : fork;
  const genesis = JSON.parse(renderGenesis({ chainId: CHAIN_ID, timestamp: GENESIS_TIME, alloc, hardfork }));
  if (isUpgraded) {
    for (const [name, time] of UPGRADE_TIMES) genesis.config[`${name}Time`] = time;
    // geth has it in block 0 before Cancun too.
    delete genesis.excessBlobGas;
  }
  for (const { address, code, storage } of PROGRAMS) {
    genesis.alloc[address] = { balance: "0x64", nonce: "0x1", code, ...(storage && { storage }) };
  }
  return JSON.stringify(genesis, null, 1);
}
