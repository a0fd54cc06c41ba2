import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { ChainConfig } from "../base/params/chain-config.ts";
import type { Address } from "../base/primitives/address.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../base/primitives/hash.ts";
import { bytesToHex } from "../base/primitives/hex.ts";
import { toQuantity } from "../base/primitives/quantity.ts";
import { inSlices, StepWork } from "../base/threads/in-slices.ts";
import type { SharedSlices } from "../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../base/types/block.ts";
import { EMPTY_TRIE_ROOT } from "../base/types/constants.ts";
import type { Chain } from "../chain/chain.ts";
import { DevControlError } from "./dev-settings.ts";
import type { AccountEdit } from "./dev-state.ts";
import { address, bytes, DumpValue, number, slotWord, uint64, word } from "./dump-json.ts";
import { blocksInSteps, blockTexts, environmentText } from "./dumped-blocks.ts";
import { parseJsonInSteps } from "./json-in-steps.ts";

/** A chain in the members that anvil reads and writes. Storage values are 32 bytes. */
export type StateDump = {
  /** JSON texts, each a member with the account's address as its name. */
  readonly accounts: readonly string[];
  readonly bestBlockNumber: number;
  /** JSON text of the environment of the newest block. */
  readonly environment: string;
  /** JSON texts, each: the newest first, as far as `BLOCKS_BYTES_MAX` allows. */
  readonly blocks: readonly string[];
  readonly transactions: readonly string[];
};

type DumpedAccount = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  readonly storage: Iterable<readonly [Hash, bigint]>;
};

/**
 * JSON of a dump that a caller sends may have so many bytes when unpacked: half a megabyte of gzip can hold all of it. It has 400,000 slots, more than a block could
 * change. Parsing it takes a second of the chain's thread, in slices, and a gigabyte.
 */
const CALLERS_DUMP_BYTES_MAX = 64 << 20;
/** Of a file that the operator names, which is read before the chain serves anyone; a string has hardly more. */
export const FILE_DUMP_BYTES_MAX = 500 << 20;
/** Of the blocks in a dump; a string holds four times as much. Older ones are left out. */
const BLOCKS_BYTES_MAX = 128 << 20;
const SLOTS_PER_STEP = 256;
const ACCOUNTS_PER_STEP = 64;

/**
 * The accounts of the newest state and the blocks up to it, read in slices.
 * @throws DevControlError where its block is rolled back meanwhile
 */
export async function dumpChain(
  addresses: Iterable<Address>,
  chain: Pick<Chain, "head" | "oldest" | "block" | "stateAt" | "blockHash" | "config">,
  slices: SharedSlices,
): Promise<StateDump> {
  const head = chain.head();
  const { header, hash } = head.block;
  const { number } = header;
  const state = chain.stateAt(number);
  const accounts: string[] = [];
  const work = new StepWork();
  async function pauseAfter(bytes: number): Promise<void> {
    if (!work.add(bytes) || !slices.isOver()) return;
    await slices.next();
    if (chain.blockHash(number) !== hash) throw new DevControlError("the block of the state was rolled back");
  }
  for (const address of addresses) {
    const account = state.account(address);
    if (account === undefined) continue;
    const { nonce, balance, codeHash } = account;
    // Read in one piece: blocks that are made meanwhile move them.
    const storage = [...state.storageEntries(address)];
    const text: string[] = [];
    for (const part of accountText(address, { nonce, balance, code: state.code(codeHash), storage })) {
      text.push(part);
      await pauseAfter(part.length);
    }
    accounts.push(text.join(""));
  }
  const blocks: string[] = [];
  const transactions: string[] = [];
  const oldest = chain.oldest().block;
  for (let at = number, left = BLOCKS_BYTES_MAX; at >= oldest && left > 0; at--) {
    const executed = chain.block(at)!;
    if (isWithoutBody(executed)) break;
    const texts = blockTexts(executed);
    const bytes = texts.transactions.reduce((sum, { length }) => sum + length, texts.block.length);
    left -= bytes;
    blocks.push(texts.block);
    transactions.push(...texts.transactions);
    await pauseAfter(bytes);
  }
  const environment = environmentText(head, chain.config);
  return { accounts, bestBlockNumber: number, environment, blocks, transactions };
}

/** The forked block, whose transactions are the remote chain's. */
function isWithoutBody({ block: { header, transactions } }: ExecutedBlock): boolean {
  return transactions.length === 0 && header.transactionsRoot !== EMPTY_TRIE_ROOT;
}

/** The dump as `anvil_dumpState` gives it: JSON, packed by gzip. */
export async function packDump(dump: StateDump, slices: SharedSlices): Promise<Uint8Array> {
  return promisify(gzip)(await inSlices(dumpInSteps(dump), slices));
}

/** The dump as `anvil --dump-state` writes it: JSON, in steps. */
export function* dumpInSteps(dump: StateDump): Generator<undefined, Buffer> {
  const { accounts, bestBlockNumber, environment, blocks, transactions } = dump;
  const parts = [Buffer.from(`{"block":${environment},"accounts":{`)];
  const work = new StepWork();
  function* add(texts: Iterable<string>): Generator<undefined> {
    let separator = "";
    for (const text of texts) {
      const part = Buffer.from(`${separator}${text}`);
      separator = ",";
      parts.push(part);
      if (work.add(part.length)) yield;
    }
  }
  yield* add(accounts);
  parts.push(Buffer.from(`},"best_block_number":${bestBlockNumber},"blocks":[`));
  yield* add(blocks);
  parts.push(Buffer.from('],"transactions":['));
  yield* add(transactions);
  return Buffer.concat([...parts, Buffer.from('],"historical_states":null}')]);
}

/** The JSON of a dump that was read, with its accounts as they are changed. */
export function dumpOf({ edits, blocks }: LoadedState, config: ChainConfig): Generator<undefined, Buffer> {
  const accounts = new Map<Address, DumpedAccount & { readonly storage: Map<Hash, bigint> }>();
  for (const { address, nonce = 0n, balance = 0n, code = EMPTY_BYTES, storage = [] } of edits) {
    const slots = new Map([...(accounts.get(address)?.storage ?? []), ...storage]);
    accounts.set(address, { nonce, balance, code, storage: slots });
  }
  const head = blocks.at(-1)!;
  const texts = blocks.map(blockTexts);
  return dumpInSteps({
    accounts: Array.from(accounts, ([address, account]) => [...accountText(address, account)].join("")),
    bestBlockNumber: head.block.header.number,
    environment: environmentText(head, config),
    blocks: texts.map(({ block }) => block),
    transactions: texts.flatMap(({ transactions }) => transactions),
  });
}

/** A member of `accounts`, in parts of some slots. */
function* accountText(address: Address, { nonce, balance, code, storage }: DumpedAccount): Generator<string> {
  const fields = `"nonce":${nonce},"balance":"${toQuantity(balance)}","code":"${bytesToHex(code)}"`;
  let text = `"${address}":{${fields},"storage":{`;
  let slots = 0;
  for (const [slot, value] of storage) {
    text += `${slots++ === 0 ? "" : ","}"${slot}":"${hashFromBigint(value)}"`;
    if (slots % SLOTS_PER_STEP !== 0) continue;
    yield text;
    text = "";
  }
  yield `${text}}}`;
}

/** A dump of ours or of anvil's. */
export type LoadedState = {
  readonly edits: readonly AccountEdit[];
  /** In order, from the oldest ancestor of its head; empty if it has only accounts. */
  readonly blocks: readonly ExecutedBlock[];
};

/**
 * A dump, packed or plain.
 * @param bytesMax of its JSON
 * @throws DevControlError
 */
export async function unpackDump(
  bytes: Uint8Array,
  slices: SharedSlices,
  bytesMax = CALLERS_DUMP_BYTES_MAX,
): Promise<LoadedState> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  try {
    const text = isPacked
      ? await promisify(gunzip)(bytes, { maxOutputLength: bytesMax })
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return await inSlices(stateInSteps(text), slices);
  } catch (cause) {
    if (cause instanceof DevControlError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new DevControlError("the state is neither JSON nor gzip of JSON", {}, { cause });
  }
}

function tooLarge(bytesMax: number): DevControlError {
  return new DevControlError(`the state has more than ${bytesMax} bytes`, { bytesMax });
}

const EMPTY_ACCOUNT = { nonce: 0, balance: 0, code: "0x", storage: {} };

function* stateInSteps(text: Buffer): Generator<undefined, LoadedState> {
  const dump = new DumpValue(yield* parseJsonInSteps(text));
  const edits: AccountEdit[] = [];
  const accounts = dump.at("accounts");
  for (const key of Object.keys(accounts.members())) {
    // What is left out is empty; null is malformed.
    const account = new DumpValue({ ...EMPTY_ACCOUNT, ...accounts.at(key).members() }, key, accounts);
    edits.push(yield* editInSteps(address(new DumpValue(key, key, accounts)), account));
    if (edits.length % ACCOUNTS_PER_STEP === 0) yield;
  }
  const best = dump.at("best_block_number").or(dump.at("block").or({}).at("number").or(0).value);
  return { edits, blocks: yield* blocksInSteps(dump, number(best)) };
}

function* editInSteps(ofAddress: Address, account: DumpValue): Generator<undefined, AccountEdit> {
  const slots = new Map<Hash, bigint>();
  const storage = account.at("storage");
  for (const [slot, value] of Object.entries(storage.members())) {
    slots.set(slotWord(new DumpValue(slot, slot, storage)), word(new DumpValue(value, slot, storage)));
    if (slots.size % SLOTS_PER_STEP === 0) yield;
  }
  return {
    address: ofAddress,
    nonce: uint64(account.at("nonce")),
    balance: word(account.at("balance")),
    code: bytes(account.at("code")),
    storage: slots,
  };
}
