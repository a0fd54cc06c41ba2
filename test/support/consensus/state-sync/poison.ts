import type { Address } from "../../../../src/base/primitives/address.ts";
import { concatBytes, equalBytes } from "../../../../src/base/primitives/bytes.ts";
import { keccak256Hash } from "../../../../src/base/primitives/keccak.ts";
import type { BlockRecord } from "../../../../src/chain/block-store.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../../../src/chain/records/block-record.ts";
import { readChanges, writeChanges } from "../../../../src/chain/records/changes-record.ts";
import { decodeConsensusData, encodeConsensusData } from "../../../../src/consensus/consensus-data.ts";
import { EMPTY_ACCOUNT } from "../../../../src/evm/state/account.ts";
import type { StateChanges } from "../../../../src/evm/state/reader.ts";
import { ByteReader, ByteWriter } from "../../../../src/store/storage/byte-io.ts";

/** Contents of the chunks of a snapshot, before compression, that a peer made from those of a good one. */
export type Poison = { readonly name: string; readonly contents: readonly Uint8Array[] };

/** A part of the state with its entries in lists, which can hold what maps cannot. */
type Part = {
  accounts: {
    address: string;
    account: { nonce: bigint; balance: bigint; codeHash: string } | null;
    storage: [slot: string, value: bigint][];
    storageCleared: boolean;
    /** "own fields as before" */
    isUnchanged: boolean;
  }[];
  codes: [hash: string, code: Uint8Array][];
};

/** Every field of every part changed in each way that its type allows, with checksums that fit; then shapes that no single field shows. */
export function* poisons(contents: readonly Uint8Array[]): Generator<Poison> {
  for (const [index, content] of contents.entries()) {
    const made = index === 0 ? blockPoisons(content) : partPoisons(content);
    for (const [name, poisoned] of made) {
      if (equalBytes(poisoned, content)) continue;
      yield { name: `chunk ${index}: ${name}`, contents: contents.with(index, poisoned) };
    }
    for (const [name, poisoned] of bytePoisons(content)) {
      yield { name: `chunk ${index}: ${name}`, contents: contents.with(index, poisoned) };
    }
  }
  yield* orderPoisons(contents);
}

function* blockPoisons(content: Uint8Array): Generator<readonly [string, Uint8Array]> {
  const { block, senders, receipts, consensusData } = decodeBlockRecord(content);
  const { transactions, ...rest } = block;
  const fields = {
    block: { ...rest, transactions: transactions.map(({ raw }) => ({ raw })) },
    senders,
    receipts,
    consensusData,
    changes: { accounts: [], codes: new Map() },
  };
  const encode = (record: object) => encodeBlockRecord(record as BlockRecord, new Set());
  yield* encoded(variantsOf(fields), encode);
  yield* encoded(variantsOf(decodeConsensusData(consensusData)!), (data) =>
    encode({ ...fields, consensusData: encodeConsensusData(data) }),
  );
}

function* partPoisons(content: Uint8Array): Generator<readonly [string, Uint8Array]> {
  const part = partOf(content);
  yield* encoded(variantsOf(part), encodePart);
  for (const [index, entry] of part.accounts.entries()) {
    const ghost = `0x${entry.address.slice(2, -1)}${entry.address.endsWith("f") ? "e" : "f"}`;
    const slots = [["0x".padEnd(66, "0"), 5n]] as [string, bigint][];
    const before = entry.address > ghost ? index : index + 1;
    for (const account of [null, EMPTY_ACCOUNT]) {
      for (const storage of [[], slots, [[slots[0]![0], 0n] as [string, bigint]]]) {
        const accounts = part.accounts.toSpliced(before, 0, {
          address: ghost,
          account,
          storage,
          storageCleared: false,
          isUnchanged: false,
        });
        yield [`ghost ${ghost} ${account && "empty"} ${storage.length}`, encodePart({ ...part, accounts })];
      }
    }
    const zeroSlot = entry.storage.toSorted().concat([[`0x${"f".repeat(64)}`, 0n]]);
    const accounts = part.accounts.with(index, { ...entry, storage: zeroSlot });
    yield [`slot of 0 in ${entry.address}`, encodePart({ ...part, accounts })];
  }
  const code = Uint8Array.of(0x5b, 0x00);
  yield ["a code that nobody has", encodePart({ ...part, codes: [...part.codes, [keccak256Hash(code), code]] })];
}

/** As bytes: each of some hundred places changed, and the content cut and continued. */
function* bytePoisons(content: Uint8Array): Generator<readonly [string, Uint8Array]> {
  const step = Math.max(1, Math.floor(content.length / 60));
  for (let at = 0; at < content.length; at += step) {
    yield [`byte ${at}`, content.map((byte, i) => (i === at ? byte ^ 1 : byte))];
    yield [`cut at ${at}`, content.slice(0, at)];
  }
  yield ["a byte more", concatBytes(content, Uint8Array.of(0))];
  yield ["itself again", concatBytes(content, content)];
}

function* orderPoisons(contents: readonly Uint8Array[]): Generator<Poison> {
  for (let index = 1; index < contents.length; index++) {
    const content = contents[index]!;
    yield { name: `part ${index} left out`, contents: contents.toSpliced(index, 1) };
    yield { name: `part ${index} twice`, contents: contents.toSpliced(index, 0, content) };
    yield { name: `part ${index} at the end again`, contents: [...contents, content] };
    yield {
      name: `nothing before part ${index}`,
      contents: contents.toSpliced(index, 0, encodePart({ accounts: [], codes: [] })),
    };
    if (index + 1 === contents.length) continue;
    const next = contents[index + 1]!;
    yield {
      name: `part ${index} after its next`,
      contents: contents.toSpliced(index, 2, next, content),
    };
    const [first, second] = [partOf(content), partOf(next)];
    const moved = { ...second, codes: [...second.codes, ...first.codes] };
    if (first.codes.length === 0) continue;
    yield {
      name: `codes of part ${index} in the next`,
      contents: contents.toSpliced(index, 2, encodePart({ ...first, codes: [] }), encodePart(moved)),
    };
  }
  yield { name: "the block alone", contents: contents.slice(0, 1) };
  yield { name: "no block", contents: contents.slice(1) };
}

function partOf(content: Uint8Array): Part {
  const { accounts, codes } = readChanges(new ByteReader(content));
  return {
    accounts: accounts.map((change) => ({
      ...change,
      storage: [...change.storage],
      isUnchanged: false,
    })),
    codes: [...codes],
  };
}

function encodePart({ accounts, codes }: Part): Uint8Array {
  const writer = new ByteWriter();
  const changes = {
    accounts: accounts.map((change) => ({ ...change, storage: mapLike(change.storage) })),
    codes: mapLike(codes),
  };
  const unchanged = accounts.filter(({ isUnchanged }) => isUnchanged);
  const addresses = unchanged.map(({ address }) => address as Address);
  writeChanges(writer, changes as unknown as StateChanges, new Set(addresses));
  return writer.finish();
}

/** What a writer of a map needs, with entries that may repeat. */
function mapLike<T>(entries: readonly T[]): { readonly size: number } & Iterable<T> {
  return { size: entries.length, [Symbol.iterator]: () => entries[Symbol.iterator]() };
}

/** Parts that the writer can write. */
function* encoded<T>(
  variants: Iterable<readonly [string, T]>,
  encode: (variant: T) => Uint8Array,
): Generator<readonly [string, Uint8Array]> {
  for (const [name, variant] of variants) {
    let bytes: Uint8Array;
    try {
      bytes = encode(variant);
    } catch {
      continue;
    }
    yield [name, bytes];
  }
}

/** `value` with one of its fields, however deep, changed; and with one element of a list left out, repeated or after its neighbour. */
function* variantsOf<T>(value: T, path = ""): Generator<readonly [string, T]> {
  for (const [name, other] of untypedVariantsOf(value, path)) yield [name, other as T];
}

function* untypedVariantsOf(value: unknown, path: string): Generator<readonly [string, unknown]> {
  for (const [how, other] of Object.entries(otherValues(value))) yield [`${path} ${how}`, other];
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      yield [`${path}[${index}] left out`, value.toSpliced(index, 1)];
      yield [`${path}[${index}] twice`, value.toSpliced(index, 0, element)];
      if (index > 0) {
        yield [`${path}[${index}] first`, value.with(index, value[index - 1]).with(index - 1, element)];
      }
      for (const [name, other] of untypedVariantsOf(element, `${path}[${index}]`)) {
        yield [name, value.with(index, other)];
      }
    }
  } else if (typeof value === "object" && value !== null && !(value instanceof Uint8Array) && !(value instanceof Map)) {
    for (const [key, field] of Object.entries(value)) {
      for (const [name, other] of untypedVariantsOf(field, `${path}.${key}`)) {
        yield [name, { ...value, [key]: other }];
      }
    }
  }
}

const WORD_END = 2n ** 256n;

/** Others of the type of a field, and what only a careless reader takes for one. */
function otherValues(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "boolean") return { not: !value };
  if (typeof value === "bigint") {
    const less = value > 0n ? { less: value - 1n, zero: 0n } : {};
    return { more: value + 1n, ...less, "too large": value + WORD_END, huge: WORD_END << 256n };
  }
  if (typeof value === "number") return { more: value + 1, zero: 0, huge: Number.MAX_SAFE_INTEGER };
  if (typeof value === "string") {
    const other = (digit: string | undefined) => (digit === "0" ? "1" : "0");
    return {
      "first digit": `0x${other(value[2])}${value.slice(3)}`,
      "last digit": `${value.slice(0, -1)}${other(value.at(-1))}`,
      shorter: value.slice(0, -2),
      longer: `${value}01`,
      zero: `0x${"0".repeat(value.length - 2)}`,
    };
  }
  if (value instanceof Uint8Array) {
    return {
      "first byte": value.map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
      "last byte": value.map((byte, i) => (i === value.length - 1 ? byte ^ 1 : byte)),
      shorter: value.slice(0, -1),
      longer: concatBytes(value, Uint8Array.of(0)),
      empty: new Uint8Array(),
    };
  }
  if (value === null) return { some: `0x${"11".repeat(20)}` };
  if (typeof value === "object" && "codeHash" in value) return { removed: null, empty: EMPTY_ACCOUNT };
  return {};
}
