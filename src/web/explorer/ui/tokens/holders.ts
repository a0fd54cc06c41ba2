import { SYSTEM_ADDRESS } from "../../../../base/params/gas.ts";
import type { Hash } from "../../../../base/primitives/hash.ts";
import { TRANSFER_TOPIC } from "../../../../base/types/transfer-log.ts";
import type { Log } from "../rpc.ts";

export const TRANSFER_SINGLE = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62" as Hash;
export const TRANSFER_BATCH = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb" as Hash;

/** Whether a contract emitted `log`: the protocol's logs for ether transfers (EIP-7708) look like a token's. */
export function isOfContract({ address }: Pick<Log, "address">): boolean {
  return address.toLowerCase() !== SYSTEM_ADDRESS;
}

/** A movement of a token. */
export type Movement = {
  readonly from: string;
  readonly to: string;
  /** undefined: the token has no ids */
  readonly id: bigint | undefined;
  readonly amount: bigint;
  readonly log: Log;
};

/** Ids read of one TransferBatch. */
const BATCH_IDS_MAX = 1000;
const WORD_CHARS = 64;
const ZERO = `0x${"00".repeat(20)}`;

/** The movements in a token's logs, in order; skips logs of another form. */
export function movementsIn(logs: readonly Log[]): readonly Movement[] {
  return logs.flatMap(movementsOf);
}

function movementsOf(log: Log): readonly Movement[] {
  const [event, first, second, third] = log.topics;
  const words = wordsOf(log.data);
  if (event === TRANSFER_TOPIC && first && second) {
    const base = { from: addressOf(first), to: addressOf(second), log };
    if (third !== undefined) return [{ ...base, id: BigInt(third), amount: 1n }];
    return words[0] === undefined ? [] : [{ ...base, id: undefined, amount: words[0] }];
  }
  if (!second || !third) return [];
  const base = { from: addressOf(second), to: addressOf(third), log };
  if (event === TRANSFER_SINGLE && words.length >= 2) return [{ ...base, id: words[0], amount: words[1]! }];
  if (event !== TRANSFER_BATCH) return [];
  const ids = listAt(words, 0);
  const amounts = listAt(words, 1);
  if (ids.length !== amounts.length) return [];
  return ids.map((id, i) => ({ ...base, id, amount: amounts[i]! }));
}

function addressOf(topic: string): string {
  return `0x${topic.slice(-40).toLowerCase()}`;
}

function wordsOf(data: string): readonly bigint[] {
  const words: bigint[] = [];
  const end = Math.min(data.length, 2 + (2 * BATCH_IDS_MAX + 4) * WORD_CHARS);
  for (let at = 2; at + WORD_CHARS <= end; at += WORD_CHARS) {
    const digits = data.slice(at, at + WORD_CHARS);
    if (!/^[0-9a-f]+$/i.test(digits)) return [];
    words.push(BigInt(`0x${digits}`));
  }
  return words;
}

/** The dynamic array at the offset in word `index` (Solidity's contract ABI specification); empty for data of another form. */
function listAt(words: readonly bigint[], index: number): readonly bigint[] {
  const offset = words[index];
  if (offset === undefined || offset % 32n !== 0n || offset > BigInt(words.length) * 32n) return [];
  const at = Number(offset / 32n);
  const length = words[at];
  if (length === undefined || length > BigInt(BATCH_IDS_MAX)) return [];
  const list = words.slice(at + 1, at + 1 + Number(length));
  return list.length === Number(length) ? list : [];
}

export type Holder = {
  readonly address: string;
  /** received minus sent amounts: the balance, if the token's logs are complete and honest */
  readonly amount: bigint;
  /** number of distinct ids held, for tokens with ids */
  readonly ids: number;
};

/** The holders of a token after `movements`, the largest first. Tokens come from and go to the zero address. */
export function holdersOf(movements: readonly Movement[]): readonly Holder[] {
  const amounts = new Map<string, Map<bigint | undefined, bigint>>();
  const add = (address: string, id: bigint | undefined, amount: bigint) => {
    const byId = amounts.get(address) ?? new Map<bigint | undefined, bigint>();
    amounts.set(address, byId);
    byId.set(id, (byId.get(id) ?? 0n) + amount);
  };
  for (const { from, to, id, amount } of movements) {
    add(from, id, -amount);
    add(to, id, amount);
  }
  amounts.delete(ZERO);
  const holders = [...amounts].map(([address, byId]) => {
    const held = [...byId].filter(([, amount]) => amount > 0n);
    const amount = held.reduce((sum, [, each]) => sum + each, 0n);
    return { address, amount, ids: held.filter(([id]) => id !== undefined).length };
  });
  return holders
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
}
