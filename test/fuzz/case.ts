import type { Hardfork } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hex } from "../../src/base/primitives/hex.ts";

/** A message on a small world, as JSON, so that it can be saved and shrunk. Quantities are decimal or 0x text. */
export type FuzzCase = {
  readonly hardfork: Hardfork;
  readonly accounts: readonly FuzzAccount[];
  /** null: `data` is init code, made of `initCode` */
  readonly to: Address | null;
  readonly initCode: readonly CodeItem[];
  readonly value: string;
  readonly data: Hex;
  readonly gas: string;
  /** Addresses and slots the transaction's access list names (EIP-2930). */
  readonly accessList: readonly AccessListEntry[];
};

export type AccessListEntry = { readonly address: Address; readonly slots: readonly string[] };

export type FuzzAccount = {
  readonly address: Address;
  readonly balance: string;
  readonly nonce: string;
  readonly code: readonly CodeItem[];
  readonly storage: Readonly<Record<string, string>>;
};

/** go-ethereum creates contracts where only storage is (EIP-7610), which no chain has. */
export function withoutBareStorage(accounts: readonly FuzzAccount[]): FuzzAccount[] {
  return accounts.map((each) => (each.nonce === "0" && each.code.length === 0 ? { ...each, storage: {} } : each));
}

/**
 * A piece of code that is taken out whole when a case is shrunk: hex digits of whole instructions; `#name`, a JUMPDEST; `@name`, a
 * PUSH2 of where that is, or of 0 where it is gone.
 */
export type CodeItem = string;

const PUSH2 = 0x61;
const JUMPDEST = 0x5b;

/** The bytecode of `items`. */
export function assemble(items: readonly CodeItem[]): Uint8Array {
  const positions = new Map<string, number>();
  let length = 0;
  for (const item of items) {
    if (item.startsWith("#")) positions.set(item.slice(1), length);
    length += itemLength(item);
  }
  const code = new Uint8Array(length);
  let at = 0;
  for (const item of items) {
    if (item.startsWith("#")) code[at] = JUMPDEST;
    else if (item.startsWith("@")) {
      const position = positions.get(item.slice(1)) ?? 0;
      code.set([PUSH2, position >> 8, position & 0xff], at);
    } else code.set(Buffer.from(item, "hex"), at);
    at += itemLength(item);
  }
  return code;
}

function itemLength(item: CodeItem): number {
  if (item.startsWith("#")) return 1;
  return item.startsWith("@") ? 3 : item.length / 2;
}
