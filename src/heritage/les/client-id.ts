import { hexDigits } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { ByteReader, ByteWriter } from "../../store/storage/byte-io.ts";
import { type Kv, prefixRange } from "../../store/storage/kv.ts";
import { tableKey } from "../../store/storage/schema.ts";

/** 64 lower-case hex digits without prefix, as for node ids. */
export type ClientId = string & { readonly __clientId: never };

const DIGITS = /^[0-9a-f]{64}$/;
const ENODE = /^enode:\/\/([0-9a-f]{128})@/;

/** @param kind "key": an API key, the subject of a token or the name in a certificate; "ip": a remote address */
export function clientIdOf(kind: "key" | "ip", name: string): ClientId {
  return hexDigits(keccak256(Buffer.from(`${kind}:${name}`))) as ClientId;
}

/** Parses an id with or without `0x`, or an enode URL; undefined for other text. */
export function parseClientId(text: string): ClientId | undefined {
  const lower = text.toLowerCase();
  const publicKey = ENODE.exec(lower)?.[1];
  if (publicKey !== undefined) {
    return hexDigits(keccak256(Buffer.from(publicKey, "hex"))) as ClientId;
  }
  const digits = lower.startsWith("0x") ? lower.slice(2) : lower;
  return DIGITS.test(digits) ? (digits as ClientId) : undefined;
}

/** The on-disk format of balances: client id, 32 bytes → balance ‖ meta. They are stored nowhere else. */
const BALANCE_TABLE = 0x01;

export type StoredBalance = {
  /** From 0 to 2^63 − 1 */
  readonly positive: bigint;
  /** The operator's note. */
  readonly meta: string;
};

/** Stored balances: positive ones and those with a note. */
export function readBalances(kv: Kv): Map<ClientId, StoredBalance> {
  const found = new Map<ClientId, StoredBalance>();
  for (const [key, value] of kv.range(prefixRange(tableKey(BALANCE_TABLE)))) {
    const row = new ByteReader(value);
    const positive = row.bigint();
    found.set(hexDigits(key.subarray(1)) as ClientId, { positive, meta: Buffer.from(row.block()).toString() });
  }
  return found;
}

export function writeBalances(kv: Kv, changes: ReadonlyMap<ClientId, StoredBalance>): void {
  kv.transaction((writer) => {
    for (const [id, { positive, meta }] of changes) {
      const key = tableKey(BALANCE_TABLE, Buffer.from(id, "hex"));
      if (positive === 0n && meta === "") {
        writer.remove(key);
        continue;
      }
      const row = new ByteWriter(64);
      row.bigint(positive);
      row.block(Buffer.from(meta));
      writer.put(key, row.finish());
    }
  });
}
