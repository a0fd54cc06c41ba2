import { DEV_ADDRESSES } from "../../test/support/accounts.ts";
import { assemble, deploymentOf } from "../../test/support/assembler.ts";
import type { NodeUnderAudit } from "./node-under-audit.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const LARGE_BYTES = 100_000;
const LARGE_TRANSACTIONS = 40;
const SLOTS = 8_000;
const ACCOUNTS = 1_000;
/** Slots or accounts that one transaction writes. */
const PER_TRANSACTION = 250;
const FILTERS = 500;
const WAITING = 600;

/** Values of a chain that was built to hurt, by what they are. */
export type World = {
  readonly addresses: readonly string[];
  readonly blockHashes: readonly string[];
  readonly blockNumbers: readonly string[];
  readonly transactionHashes: readonly string[];
  readonly topics: readonly string[];
  readonly filters: readonly string[];
  readonly rawTransaction: string;
  readonly stateDump: string;
};

const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** Logs the whole call data as often as its first byte says. */
const LOGGER = assemble(`
  CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY PUSH0 CALLDATALOAD PUSH0 BYTE
  JUMPDEST PUSH1 7 CALLDATASIZE PUSH0 LOG1 PUSH1 1 SWAP1 SUB DUP1 PUSH1 08 JUMPI STOP`);
/** Calls itself until its gas is used up. */
const NESTED = assemble("PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 ADDRESS GAS CALL STOP");
/** Runs until its gas is used up. */
const LOOP = assemble("JUMPDEST PUSH0 JUMP");
/** Stores in as many slots as the second word of its call data says, from the first word on. */
const STORER = assemble(`
  PUSH0 CALLDATALOAD PUSH1 20 CALLDATALOAD
  JUMPDEST DUP2 PUSH1 01 ADD DUP3 SSTORE PUSH1 01 SWAP1 SUB SWAP1 PUSH1 01 ADD SWAP1 DUP1 PUSH1 05 JUMPI STOP`);
/** Sends 1 wei to as many accounts as the second word of its call data says, from the first word on. */
const PAYER = assemble(`
  PUSH0 CALLDATALOAD PUSH1 20 CALLDATALOAD
  JUMPDEST PUSH0 PUSH0 PUSH0 PUSH0 PUSH1 01 DUP7 PUSH2 ffff CALL POP
  PUSH1 01 SWAP1 SUB SWAP1 PUSH1 01 ADD SWAP1 DUP1 PUSH1 05 JUMPI STOP`);
/** Returns half a megabyte of zeros. */
const WIDE = assemble("PUSH3 080000 PUSH0 RETURN");

/** Few large logs and many small ones, large transactions, a large contract, deep calls, a full pool and many filters. */
export async function buildWorld(node: NodeUnderAudit): Promise<World> {
  const send = async (transaction: object) => {
    const hash = (await node.call("eth_sendTransaction", [{ from: ALICE, gas: "0xe00000", ...transaction }])) as string;
    return (await node.call("eth_getTransactionReceipt", [hash])) as {
      readonly transactionHash: string;
      readonly blockHash: string;
      readonly blockNumber: string;
      readonly contractAddress: string;
      readonly status: string;
    };
  };
  const deploy = async (code: `0x${string}`) => (await send({ data: deploymentOf(code) })).contractAddress;
  const logger = await deploy(LOGGER);
  const nested = await deploy(NESTED);
  const loop = await deploy(LOOP);
  const wide = await deploy(WIDE);
  // What is set by hand would keep every call on the chain's thread (ADR 59), which is no chain of a stranger's.
  const large = await deploy(`${STORER}${"5b".repeat(24_000)}`);
  const payer = await deploy(PAYER);
  for (let first = 0; first < SLOTS; first += PER_TRANSACTION) {
    await send({ to: large, data: `${word(first)}${word(PER_TRANSACTION).slice(2)}` });
  }
  for (let first = 1; first <= ACCOUNTS; first += PER_TRANSACTION) {
    const data = `${word(0xacc0000 + first)}${word(PER_TRANSACTION).slice(2)}`;
    await send({ to: payer, data, value: "0x400" });
  }

  const receipts = [];
  // Ten logs of some 30 KB, and 255 of 32 bytes.
  for (let i = 0; i < 8; i++) receipts.push(await send({ to: logger, data: `0x0a${"00".repeat(30_000)}` }));
  for (let i = 0; i < 8; i++) receipts.push(await send({ to: logger, data: `0xff${"00".repeat(31)}` }));
  receipts.push(await send({ to: nested }), await send({ to: loop }), await send({ to: wide }));
  await node.call("evm_setAutomine", [false]);
  const hashes: string[] = [];
  for (let i = 0; i < LARGE_TRANSACTIONS; i++) {
    const data = `0x${"00".repeat(LARGE_BYTES)}`;
    hashes.push((await node.call("eth_sendTransaction", [{ from: ALICE, to: BOB, gas: "0x200000", data }])) as string);
    if (i % 8 === 7) await node.call("evm_mine");
  }
  for (let i = 0; i < WAITING; i++) await node.call("eth_sendTransaction", [{ from: ALICE, to: BOB, gas: "0x5208" }]);
  await node.call("evm_mine");
  const full = (await node.call("eth_getBlockByNumber", ["latest", false])) as { hash: string; number: string };
  for (let i = 0; i < WAITING; i++) {
    const data = i % 10 === 0 ? `0x${"00".repeat(60_000)}` : "0x";
    await node.call("eth_sendTransaction", [{ from: ALICE, to: BOB, gas: "0x180000", data }]);
  }
  const filters = [];
  for (let i = 0; i < FILTERS; i++) {
    filters.push((await node.call("eth_newFilter", [{ fromBlock: "0x0", address: logger }])) as string);
  }
  const rawTransaction = (await node.call("debug_getRawTransaction", [hashes[0]])) as string;
  const heavy = (await node.call("eth_getTransactionReceipt", [hashes[0]])) as {
    blockHash: string;
    blockNumber: string;
  };
  return {
    addresses: [logger, large, nested, loop, wide, ALICE, BOB, address(0xacc0001), address(0xdead)],
    blockHashes: [full.hash, heavy.blockHash, ...receipts.map(({ blockHash }) => blockHash)],
    blockNumbers: [full.number, heavy.blockNumber, ...receipts.map(({ blockNumber }) => blockNumber)],
    transactionHashes: [...hashes.slice(0, 3), ...receipts.map(({ transactionHash }) => transactionHash)],
    topics: [word(7)],
    filters,
    rawTransaction,
    stateDump: (await node.call("hardhat_dumpState")) as string,
  };
}
