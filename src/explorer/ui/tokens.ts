import type { Address } from "../../primitives/address.ts";
import { type Hash, hashFromBigint } from "../../primitives/hash.ts";
import type { Hex } from "../../primitives/hex.ts";
import { decodeLog, decodeResult, ERC20, encodeCall } from "./contracts.ts";
import { count, decimal } from "./format.ts";
import { call, callIfOpen, type Log } from "./rpc.ts";

/** A transfer of an ERC-20, ERC-721 or ERC-1155 token, from a log. */
type TokenTransfer = {
  readonly token: Address;
  readonly from: string;
  readonly to: string;
  /** amount of an ERC-20; undefined of others */
  readonly value: bigint | undefined;
  /** `#1`, or `#1 × 5` for ERC-1155 */
  readonly item: string | undefined;
};

export function transfersIn(logs: readonly Log[]): readonly TokenTransfer[] {
  return logs.flatMap((log): TokenTransfer[] => {
    const decoded = decodeLog(log);
    if (decoded === undefined || !/^Transfer(Single|Batch)?$/.test(decoded.name)) return [];
    const { from, to, value, tokenId, id, ids, values } = Object.fromEntries(
      decoded.args.map(({ name, text }) => [name, text]),
    );
    if (from === undefined || to === undefined) return [];
    const base = { token: log.address, from, to };
    if (tokenId !== undefined) return [{ ...base, value: undefined, item: `#${tokenId}` }];
    if (id !== undefined) return [{ ...base, value: undefined, item: `#${id} × ${value}` }];
    if (ids !== undefined) return [{ ...base, value: undefined, item: `${ids} × ${values}` }];
    // An uploaded ABI may have another Transfer, whose value is a text.
    if (value === undefined || !/^\d{1,78}$/.test(value)) return [];
    return [{ ...base, value: BigInt(value), item: undefined }];
  });
}

/** What a token says of itself; undefined members where it does not, or where what it says is none. */
export type TokenInfo = {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
};

/** Of a symbol that is shown: the longest of known tokens have 11 characters. */
const SYMBOL_LENGTH_MAX = 24;
/** ERC-20: `decimals` is a uint8. */
const DECIMALS_MAX = 255;
/** Tokens of one page, each of which is asked three times: anybody can name an address in a log. */
const TOKENS_MAX = 100;
/** Ids of one token that are listed. */
const IDS_MAX = 100;

/** What a contract has answered as a symbol, clipped. */
export function symbolOf(answer: string | undefined): string | undefined {
  if (typeof answer !== "string" || answer === "") return undefined;
  const isLong = answer.length > SYMBOL_LENGTH_MAX;
  return isLong ? `${answer.slice(0, SYMBOL_LENGTH_MAX)}…` : answer;
}

/** What a contract has answered as decimals: viem decodes the whole word, whatever the type says. */
export function decimalsOf(answer: string | undefined): number | undefined {
  if (answer === undefined || !/^\d{1,3}$/.test(answer)) return undefined;
  return Number(answer) <= DECIMALS_MAX ? Number(answer) : undefined;
}

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
  const [symbol, decimals] = await Promise.all([view(to, "symbol"), view(to, "decimals")]);
  return { symbol: symbolOf(symbol), decimals: decimalsOf(decimals) };
}

/** Result of a view function of ERC-20 as text; undefined where the contract has no such function. */
async function view(to: Address, name: string, ...args: string[]): Promise<string | undefined> {
  const item = ERC20.find((each) => each.type === "function" && each.name === name);
  if (item?.type !== "function") return undefined;
  const data = await callIfOpen<Hex>("eth_call", { to, data: encodeCall(item, args) }, "latest");
  try {
    return data && decodeResult(item, data);
  } catch {
    return undefined;
  }
}

export function amountText(value: bigint, { symbol, decimals }: TokenInfo): string {
  // Without decimals the number is one of smallest units.
  return decimals === undefined
    ? `${count(value)} units of ${symbol ?? "a token"}`
    : `${decimal(value, decimals)} ${symbol ?? "tokens"}`;
}

export type Holding = TokenInfo & {
  readonly token: Address;
  readonly balance: bigint | undefined;
  /** of ERC-721 */
  readonly tokenIds: readonly string[];
};

const TRANSFER: Hash = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" as Hash;

/** Tokens whose Transfer logs name `owner`, with what the owner has of them now. */
export async function holdingsOf(owner: Address): Promise<readonly Holding[]> {
  const topic = hashFromBigint(BigInt(owner));
  const logsWith = (topics: readonly (Hash | null)[]) =>
    call<Log[]>("eth_getLogs", { fromBlock: "earliest", toBlock: "latest", topics });
  const [sent, received] = await Promise.all([logsWith([TRANSFER, topic]), logsWith([TRANSFER, null, topic])]);
  const logs = [...sent, ...received].sort(
    (a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
  );
  // The newest first.
  const byToken = new Map<Address, Log[]>();
  for (const log of logs.toReversed()) {
    const known = byToken.get(log.address);
    if (known === undefined) byToken.set(log.address, [log]);
    else known.push(log);
  }
  return Promise.all(
    [...byToken].slice(0, TOKENS_MAX).map(async ([token, ofToken]) => {
      const [info, balance] = await Promise.all([tokenInfo(token), view(token, "balanceOf", owner)]);
      const tokenIds = ownedIds(ofToken.toReversed(), topic);
      return {
        token,
        ...info,
        tokenIds,
        balance: balance === undefined ? undefined : BigInt(balance),
      };
    }),
  );
}

/** Ids of an ERC-721 whose last transfer went to `owner`. */
function ownedIds(logs: readonly Log[], owner: Hash): readonly string[] {
  const owned = new Set<string>();
  for (const { topics } of logs) {
    const id = topics[3];
    if (id === undefined) continue;
    owned.delete(id);
    if (topics[2] === owner) owned.add(id);
  }
  return [...owned].slice(0, IDS_MAX).map((id) => `#${BigInt(id)}`);
}
