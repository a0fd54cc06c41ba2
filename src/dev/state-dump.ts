import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Chain } from "../chain/chain.ts";
import { type Address, parseAddress } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import type { AccountEdit } from "./account-edit.ts";
import { DevControlError } from "./errors.ts";

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

/** A dump may be this large when unpacked. */
const DUMP_BYTES_MAX = 512 << 20;

export function dumpAccounts(addresses: Iterable<Address>, chain: Chain): StateDump {
  const { number } = chain.head().block.header;
  const state = chain.stateAt(number);
  const accounts: Record<Address, DumpedAccount> = {};
  for (const address of addresses) {
    const account = state.account(address);
    if (account === undefined) continue;
    const slots = [...state.storageEntries(address)].map(
      ([slot, value]) => [slot, hashFromBigint(value)] as const,
    );
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
 * @throws DevControlError
 */
export async function unpackDump(bytes: Uint8Array): Promise<AccountEdit[]> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    const text = isPacked
      ? await promisify(gunzip)(bytes, { maxOutputLength: DUMP_BYTES_MAX })
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return editsOf(JSON.parse(text.toString()));
  } catch (cause) {
    if (cause instanceof DevControlError) throw cause;
    throw new DevControlError("the state is neither JSON nor gzip of JSON", {}, { cause });
  }
}

function editsOf(dump: { readonly accounts?: unknown } | null): AccountEdit[] {
  const accounts = dump?.accounts;
  if (typeof accounts !== "object" || accounts === null) {
    throw new DevControlError('the state has no member "accounts"');
  }
  return Object.entries(accounts).map(([key, account]) => {
    try {
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
    ([slot, value]) => [hashFromBigint(BigInt(slot)), BigInt(value)] as const,
  );
  return {
    address,
    nonce: BigInt(nonce),
    balance: BigInt(balance),
    code: hexToBytes(code),
    storage: new Map(slots),
  };
}
