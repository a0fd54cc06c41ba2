import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Chain } from "../chain/chain.ts";
import { type Address, parseAddress } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes, isData } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { isJsonObject } from "../primitives/shape.ts";
import { inSlices, StepWork } from "../threads/in-slices.ts";
import type { SharedSlices } from "../threads/shared-slices.ts";
import { DevControlError } from "./dev-settings.ts";
import type { AccountEdit } from "./dev-state.ts";

/** The accounts of a state, in the members that anvil reads and writes. Storage values are 32 bytes. */
export type StateDump = {
  readonly accounts: Readonly<Record<Address, DumpedAccount>>;
  readonly bestBlockNumber: number;
};

type DumpedAccount = {
  readonly nonce: number;
  readonly balance: Hex;
  readonly code: Hex;
  readonly storage: Readonly<Record<Hash, Hash>>;
};

/**
 * JSON of a dump that a caller sends may have so many bytes when unpacked: half a megabyte of gzip can hold all of it. Parsing it takes the chain's thread a second and
 * a gigabyte; it has 400,000 slots, more than a block could change.
 */
const CALLERS_DUMP_BYTES_MAX = 64 << 20;
/** Of a file that the operator names, which is read before the chain serves anyone; a string has hardly more. */
export const FILE_DUMP_BYTES_MAX = 500 << 20;
/** Of a slot, which takes a microsecond to read, as work. */
const SLOT_BYTES = 256;
const SLOTS_PER_STEP = 256;
const ACCOUNTS_PER_STEP = 64;
const KEY_CHARS_SHOWN = 80;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** No longer than a word, so that a text of millions of digits is not read. */
const INTEGER = /^(?:0x[0-9a-fA-F]{1,64}|\d{1,78})$/;
const WORD_END = 2n ** 256n;
const NONCE_END = 2n ** 64n;

/**
 * The accounts of the newest state, read in slices.
 * @throws DevControlError where its block is rolled back meanwhile
 */
export async function dumpAccounts(
  addresses: Iterable<Address>,
  chain: Pick<Chain, "head" | "stateAt" | "blockHash">,
  slices: SharedSlices,
): Promise<StateDump> {
  const { header, hash } = chain.head().block;
  const { number } = header;
  const state = chain.stateAt(number);
  const accounts: Record<Address, DumpedAccount> = {};
  const work = new StepWork();
  let bytes = 0;
  for (const address of addresses) {
    if (work.add(bytes) && slices.isOver()) {
      await slices.next();
      if (chain.blockHash(number) !== hash) throw new DevControlError("the block of the state was rolled back");
    }
    bytes = 0;
    const account = state.account(address);
    if (account === undefined) continue;
    const slots = [...state.storageEntries(address)].map(([slot, value]) => [slot, hashFromBigint(value)] as const);
    accounts[address] = {
      nonce: Number(account.nonce),
      balance: toQuantity(account.balance),
      code: bytesToHex(state.code(account.codeHash)),
      storage: Object.fromEntries(slots),
    };
    bytes = accounts[address].code.length + SLOT_BYTES * slots.length;
  }
  return { accounts, bestBlockNumber: number };
}

/** The dump as `anvil_dumpState` gives it: JSON, packed by gzip. */
export async function packDump(dump: StateDump, slices: SharedSlices): Promise<Uint8Array> {
  return promisify(gzip)(await inSlices(dumpInSteps(dump), slices));
}

/** The dump as `anvil --dump-state` writes it: JSON, in steps. */
export function* dumpInSteps({ accounts, bestBlockNumber }: StateDump): Generator<undefined, Buffer> {
  const parts = [Buffer.from('{"block":null,"accounts":{')];
  const work = new StepWork();
  for (const [address, account] of Object.entries(accounts)) {
    const part = Buffer.from(`${parts.length === 1 ? "" : ","}"${address}":${JSON.stringify(account)}`);
    parts.push(part);
    if (work.add(part.length)) yield;
  }
  const end = `},"best_block_number":${bestBlockNumber},"blocks":[],"transactions":[],"historical_states":null}`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}

/**
 * The accounts of a dump of ours or of anvil's, packed or plain. Blocks and transactions in it are left out.
 * @param bytesMax of its JSON
 * @throws DevControlError
 */
export async function unpackDump(
  bytes: Uint8Array,
  slices: SharedSlices,
  bytesMax = CALLERS_DUMP_BYTES_MAX,
): Promise<AccountEdit[]> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  try {
    const text = isPacked
      ? await promisify(gunzip)(bytes, { maxOutputLength: bytesMax })
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return await inSlices(editsInSteps(JSON.parse(text.toString())), slices);
  } catch (cause) {
    if (cause instanceof DevControlError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new DevControlError("the state is neither JSON nor gzip of JSON", {}, { cause });
  }
}

function tooLarge(bytesMax: number): DevControlError {
  return new DevControlError(`the state has more than ${bytesMax} bytes`, { bytesMax });
}

type Members = Readonly<Record<string, unknown>>;

/** @throws DevControlError */
function malformed(place: string, wanted: string): never {
  throw new DevControlError(`${place} of the state is not ${wanted}`, { place });
}

function membersAt(value: unknown, place: string): Members {
  return isJsonObject(value) ? value : malformed(place, "an object");
}

function* editsInSteps(dump: unknown): Generator<undefined, AccountEdit[]> {
  const edits: AccountEdit[] = [];
  for (const [key, account] of Object.entries(membersAt(membersAt(dump, "the value")["accounts"], "accounts"))) {
    const place = `accounts.${key.slice(0, KEY_CHARS_SHOWN)}`;
    if (!ADDRESS.test(key)) malformed(place, "an address");
    edits.push(yield* editInSteps(parseAddress(key), membersAt(account, place), place));
    if (edits.length % ACCOUNTS_PER_STEP === 0) yield;
  }
  return edits;
}

function* editInSteps(address: Address, account: Members, place: string): Generator<undefined, AccountEdit> {
  const { nonce = 0, balance = 0, code = "0x", storage = {} } = account;
  const slots = new Map<Hash, bigint>();
  for (const [slot, value] of Object.entries(membersAt(storage, `${place}.storage`))) {
    const at = `${place}.storage.${slot.slice(0, KEY_CHARS_SHOWN)}`;
    slots.set(hashFromBigint(below(WORD_END, slot, at)), below(WORD_END, value, at));
    if (slots.size % SLOTS_PER_STEP === 0) yield;
  }
  return {
    address,
    nonce: below(NONCE_END, nonce, `${place}.nonce`),
    balance: below(WORD_END, balance, `${place}.balance`),
    code: typeof code === "string" && isData(code) ? hexToBytes(code) : malformed(`${place}.code`, "bytes in hex"),
    storage: slots,
  };
}

/** An integer below `end`, of JSON: a number, or digits in a text. @throws DevControlError */
function below(end: bigint, value: unknown, place: string): bigint {
  const isInteger = typeof value === "string" ? INTEGER.test(value) : Number.isInteger(value);
  const integer = isInteger ? BigInt(value as string | number) : -1n;
  return integer >= 0n && integer < end
    ? integer
    : malformed(place, `an integer below 2^${end.toString(2).length - 1}`);
}
