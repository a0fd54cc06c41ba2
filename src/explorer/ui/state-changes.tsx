import type { ComponentChildren } from "preact";
import { bytesOfHex, count, ether, shortWord } from "./format.ts";
import { AddressText, HexText, Table } from "./parts.tsx";

type AccountDiff = {
  readonly balance?: string;
  readonly nonce?: number;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
};

/** What `prestateTracer` answers in diff mode. */
export type StateDiff = {
  readonly pre: Readonly<Record<string, AccountDiff>>;
  readonly post: Readonly<Record<string, AccountDiff>>;
};

type Row = readonly [address: string, what: ComponentChildren, before: string, after: string];

/** Balances, nonces, codes and slots that a transaction changed, before and after. */
export function StateChanges({ diff }: { readonly diff: StateDiff }) {
  const addresses = [...new Set([...Object.keys(diff.pre), ...Object.keys(diff.post)])];
  const rows = addresses.flatMap((address) =>
    rowsOf(address, diff.pre[address] ?? {}, diff.post[address] ?? {}),
  );
  return (
    <Table
      label="State changes"
      head={["Account", "What", "Before", "After"]}
      numeric={[2, 3]}
      rows={rows.map(([address, what, before, after]) => [
        <AddressText key="address" value={address} />,
        what,
        before,
        after,
      ])}
    />
  );
}

function rowsOf(address: string, pre: AccountDiff, post: AccountDiff): readonly Row[] {
  const rows: Row[] = [];
  if (post.balance !== undefined) {
    rows.push([address, "balance", ether(pre.balance ?? "0x0"), ether(post.balance)]);
  }
  if (post.nonce !== undefined) {
    rows.push([address, "nonce", count(pre.nonce ?? 0), count(post.nonce)]);
  }
  if (post.code !== undefined) {
    const size = (code: string) => `${count(bytesOfHex(code))} bytes`;
    rows.push([address, "code", size(pre.code ?? "0x"), size(post.code)]);
  }
  const slots = new Set([...Object.keys(pre.storage ?? {}), ...Object.keys(post.storage ?? {})]);
  for (const slot of slots) {
    const word = (account: AccountDiff) => shortWord(account.storage?.[slot] ?? "0x0");
    rows.push([address, <HexText key="" value={slot} />, word(pre), word(post)]);
  }
  return rows;
}
