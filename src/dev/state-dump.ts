import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Chain } from "../chain/chain.ts";
import { type Address, parseAddress } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
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
const WORD_END = 2n ** 256n;
const NONCE_END = 2n ** 64n;

export function dumpAccounts(addresses: Iterable<Address>, chain: Chain): StateDump {
  const { number } = chain.head().block.header;
  const state = chain.stateAt(number);
  const accounts: Record<Address, DumpedAccount> = {};
  for (const address of addresses) {
    const account = state.account(address);
    if (account === undefined) continue;
    const slots = [...state.storageEntries(address)].map(([slot, value]) => [slot, hashFromBigint(value)] as const);
    accounts[address] = {
      nonce: Number(account.nonce),
      balance: toQuantity(account.balance),
      code: bytesToHex(state.code(account.codeHash)),
      storage: Object.fromEntries(slots),
    };
  }
  return { accounts, bestBlockNumber: number };
}

/** The dump as `anvil_dumpState` gives it: JSON, packed by gzip. */
export async function packDump(dump: StateDump): Promise<Uint8Array> {
  return promisify(gzip)(dumpText(dump));
}

/** The dump as `anvil --dump-state` writes it: JSON. */
export function dumpText({ accounts, bestBlockNumber }: StateDump): string {
  return JSON.stringify({
    block: null,
    accounts,
    best_block_number: bestBlockNumber,
    blocks: [],
    transactions: [],
    historical_states: null,
  });
}

/**
 * The accounts of a dump of ours or of anvil's, packed or plain. Blocks and transactions in it are left out.
 * @param bytesMax of its JSON
 * @throws DevControlError
 */
export async function unpackDump(bytes: Uint8Array, bytesMax = CALLERS_DUMP_BYTES_MAX): Promise<AccountEdit[]> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  try {
    const text = isPacked
      ? await promisify(gunzip)(bytes, { maxOutputLength: bytesMax })
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return editsOf(JSON.parse(text.toString()));
  } catch (cause) {
    if (cause instanceof DevControlError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new DevControlError("the state is neither JSON nor gzip of JSON", {}, { cause });
  }
}

function tooLarge(bytesMax: number): DevControlError {
  return new DevControlError(`the state has more than ${bytesMax} bytes`, { bytesMax });
}

function editsOf(dump: { readonly accounts?: unknown } | null): AccountEdit[] {
  const accounts = dump?.accounts;
  if (typeof accounts !== "object" || accounts === null) {
    throw new DevControlError('the state has no member "accounts"');
  }
  return Object.entries(accounts).map(([key, account]) => {
    try {
      if (typeof account !== "object") throw new TypeError("not an object");
      return editOf(parseAddress(key), account);
    } catch (cause) {
      throw new DevControlError(`account ${key} of the state is malformed`, { key }, { cause });
    }
  });
}

function editOf(
  address: Address,
  { nonce = 0, balance = "0x0", code = "0x", storage = {} }: Partial<DumpedAccount>,
): AccountEdit {
  const slots = Object.entries(storage).map(
    ([slot, value]) => [hashFromBigint(below(WORD_END, slot)), below(WORD_END, value)] as const,
  );
  return {
    address,
    nonce: below(NONCE_END, nonce),
    balance: below(WORD_END, balance),
    code: hexToBytes(code),
    storage: new Map(slots),
  };
}

function below(end: bigint, text: string | number): bigint {
  const value = BigInt(text);
  if (value < 0n || value >= end) throw new RangeError(`${text} is out of range`);
  return value;
}
