import { parseAbi } from "viem";
import type { Address } from "../../../../base/primitives/address.ts";
import type { Hex } from "../../../../base/primitives/hex.ts";
import { decodeResult, encodeCall } from "../contracts/contracts.ts";
import { callIfOpen } from "../rpc.ts";

const VIEWS = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function totalSupply() view returns (uint256)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function balanceOf(address owner) view returns (uint256)",
]);

type TokenStandard = "ERC-20" | "ERC-721" | "ERC-1155";

/** A contract's own claims as a token. They are unverified, and anyone can choose any name. */
export type TokenFacts = {
  readonly standard: TokenStandard;
  readonly name: string | undefined;
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
  readonly totalSupply: bigint | undefined;
};

/** ERC-165 identifiers of the standards that have one. */
const INTERFACES = { "ERC-721": "0x80ac58cd", "ERC-1155": "0xd9b67a26" } as const;
const ZERO = `0x${"00".repeat(20)}`;

/** Result of a view function as text; undefined if the contract lacks the function or returns something else. */
export async function viewToken(to: Address, name: string, ...args: string[]): Promise<string | undefined> {
  const item = VIEWS.find((each) => each.name === name)!;
  const data = await callIfOpen<Hex>("eth_call", { to, data: encodeCall(item, args) }, "latest");
  if (data === undefined || data === "0x") return undefined;
  try {
    return decodeResult(item, data);
  } catch {
    return undefined;
  }
}

/** A word of 256 bits. */
export function amountOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,78}$/.test(text) ? BigInt(text) : undefined;
}

/** Maximum length of a symbol: the longest of known tokens have 11 characters. */
const SYMBOL_LENGTH_MAX = 24;
/** ERC-20: `decimals` is a uint8. */
const DECIMALS_MAX = 255;
/** A contract's symbol, clipped. */
export function symbolOf(answer: string | undefined): string | undefined {
  if (typeof answer !== "string" || answer === "") return undefined;
  const isLong = answer.length > SYMBOL_LENGTH_MAX;
  return isLong ? `${answer.slice(0, SYMBOL_LENGTH_MAX)}…` : answer;
}

/** A contract's decimals: viem decodes the whole word, whatever the type is. */
export function decimalsOf(answer: string | undefined): number | undefined {
  if (answer === undefined || !/^\d{1,3}$/.test(answer)) return undefined;
  return Number(answer) <= DECIMALS_MAX ? Number(answer) : undefined;
}

/** undefined if the contract is not a known kind of token. */
export async function tokenFacts(token: Address): Promise<TokenFacts | undefined> {
  const [name, symbol, decimals, supply, isErc721, isErc1155, balance] = await Promise.all([
    viewToken(token, "name"),
    viewToken(token, "symbol"),
    viewToken(token, "decimals"),
    viewToken(token, "totalSupply"),
    viewToken(token, "supportsInterface", INTERFACES["ERC-721"]),
    viewToken(token, "supportsInterface", INTERFACES["ERC-1155"]),
    viewToken(token, "balanceOf", ZERO),
  ]);
  const totalSupply = amountOf(supply);
  const facts = { name: symbolOf(name), symbol: symbolOf(symbol), decimals: decimalsOf(decimals), totalSupply };
  if (isErc721 === "true") return { ...facts, standard: "ERC-721" };
  if (isErc1155 === "true") return { ...facts, standard: "ERC-1155" };
  // ERC-20 has no identifier; it requires only these two views.
  const isErc20 = totalSupply !== undefined && amountOf(balance) !== undefined;
  return isErc20 ? { ...facts, standard: "ERC-20" } : undefined;
}
