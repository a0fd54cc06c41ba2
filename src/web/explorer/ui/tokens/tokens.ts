import type { Address } from "../../../../base/primitives/address.ts";
import { hashFromBigint } from "../../../../base/primitives/hash.ts";
import { TRANSFER_TOPIC } from "../../../../base/types/transfer-log.ts";
import { count, decimal } from "../format.ts";
import type { Log } from "../rpc.ts";
import { isOfContract, movementsIn, TRANSFER_BATCH, TRANSFER_SINGLE } from "./holders.ts";
import { findLogs } from "./logs.ts";
import { amountOf, decimalsOf, symbolOf, viewToken } from "./token-facts.ts";

/** A transfer of an ERC-20, ERC-721 or ERC-1155 token, from a log. */
type TokenTransfer = {
  readonly token: Address;
  readonly from: string;
  readonly to: string;
  /** amount of an ERC-20 token; otherwise undefined */
  readonly value: bigint | undefined;
  /** `#1`, or `#1 × 5` for ERC-1155 */
  readonly item: string | undefined;
};

export function transfersIn(logs: readonly Log[]): readonly TokenTransfer[] {
  return movementsIn(logs.filter(isOfContract)).map(({ log, from, to, id, amount }) => ({
    token: log.address,
    from,
    to,
    ...(id === undefined ? { value: amount, item: undefined } : { value: undefined, item: itemText(id, amount) }),
  }));
}

/** A token's own claims; undefined if its answer is missing or malformed. */
export type TokenInfo = {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
};

/** Tokens of one page: each costs three calls, and anyone can name an address in a log. */
const TOKENS_MAX = 100;
/** Ids listed per token. */
const IDS_MAX = 100;

const infos = new Map<string, Promise<TokenInfo>>();

export function tokenInfo(token: Address): Promise<TokenInfo> {
  let info = infos.get(token);
  if (info === undefined) {
    info = loadInfo(token);
    infos.set(token, info);
  }
  return info;
}

async function loadInfo(to: Address): Promise<TokenInfo> {
  const [symbol, decimals] = await Promise.all([viewToken(to, "symbol"), viewToken(to, "decimals")]);
  return { symbol: symbolOf(symbol), decimals: decimalsOf(decimals) };
}

export function amountText(value: bigint, { symbol, decimals }: TokenInfo): string {
  // Without decimals, the number counts the smallest units.
  return decimals === undefined
    ? `${count(value)} units of ${symbol ?? "a token"}`
    : `${decimal(value, decimals)} ${symbol ?? "tokens"}`;
}

type Holding = TokenInfo & {
  readonly token: Address;
  /** balance of ERC-20, or number of items of ERC-721, as claimed by the contract */
  readonly balance: bigint | undefined;
  /** of ERC-721 and ERC-1155 */
  readonly items: readonly string[];
};

export type Holdings = {
  readonly holdings: readonly Holding[];
  /** the first block whose logs were searched */
  readonly from: number;
};

/** Digits shown of an id: some are hashes. */
const ID_CHARS_MAX = 20;

/** `#7`, or `#7 × 5` */
export function itemText(id: bigint, amount: bigint): string {
  const digits = String(id);
  const shown = digits.length > ID_CHARS_MAX ? `${digits.slice(0, ID_CHARS_MAX)}…` : digits;
  return amount === 1n ? `#${shown}` : `#${shown} × ${count(amount)}`;
}

/** Tokens whose transfer logs name `owner`, newest log first, with the owner's current balance. */
export async function holdingsOf(owner: Address): Promise<Holdings> {
  const topic = hashFromBigint(BigInt(owner));
  const multi = [TRANSFER_SINGLE, TRANSFER_BATCH];
  const found = await Promise.all(
    [
      [TRANSFER_TOPIC, topic],
      [TRANSFER_TOPIC, null, topic],
      [multi, null, topic],
      [multi, null, null, topic],
    ].map((topics) => findLogs({ topics })),
  );
  const from = Math.max(...found.map((each) => each.from));
  const logs = found
    .flatMap((each) => each.logs)
    .filter((log) => Number(log.blockNumber) >= from && isOfContract(log))
    .sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex));
  const byToken = new Map<Address, Map<string, Log>>();
  for (const log of logs.toReversed()) {
    const known = byToken.get(log.address) ?? new Map<string, Log>();
    byToken.set(log.address, known);
    // A transfer to oneself is found twice.
    known.set(`${log.blockNumber} ${log.logIndex}`, log);
  }
  const holdings = await Promise.all(
    [...byToken].slice(0, TOKENS_MAX).map(async ([token, ofToken]) => {
      const [info, balance] = await Promise.all([tokenInfo(token), viewToken(token, "balanceOf", owner)]);
      const items = ownedItems([...ofToken.values()].toReversed(), owner);
      return { token, ...info, items, balance: amountOf(balance) };
    }),
  );
  return { holdings, from };
}

/** Ids of which `owner` received more than it sent. @param logs oldest first */
function ownedItems(logs: readonly Log[], owner: Address): readonly string[] {
  const amounts = new Map<bigint, bigint>();
  for (const { from, to, id, amount } of movementsIn(logs)) {
    if (id === undefined) continue;
    const change = (to === owner ? amount : 0n) - (from === owner ? amount : 0n);
    amounts.set(id, (amounts.get(id) ?? 0n) + change);
  }
  const owned = [...amounts].filter(([, amount]) => amount > 0n);
  return owned.slice(0, IDS_MAX).map(([id, amount]) => itemText(id, amount));
}
