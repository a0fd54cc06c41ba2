import { type Decoded, decodeCall } from "./contracts/contracts.ts";
import { useLoaded } from "./hooks.ts";
import { amountText, type TokenInfo, tokenInfo } from "./tokens/tokens.ts";

/** Functions of ERC-20 tokens whose last argument is an amount, including common extensions. */
const AMOUNTS: ReadonlySet<string> = new Set([
  "transfer(address,uint256)",
  "transferFrom(address,address,uint256)",
  "approve(address,uint256)",
  "increaseAllowance(address,uint256)",
  "decreaseAllowance(address,uint256)",
  "mint(address,uint256)",
  "burn(uint256)",
  "burn(address,uint256)",
  "burnFrom(address,uint256)",
]);

export type Call = { readonly to?: string | null | undefined; readonly input: string };
/** The token amount in the last argument of a decoded call of `to`; undefined: it has none, or `to` has no decimals. */
export type CallAmounts = (to: string | null | undefined, decoded: Decoded | undefined) => string | undefined;

/** Tokens of one page: each costs two calls, and a call tree may contain any number. */
const TOKENS_MAX = 20;

function hasAmount({ name, args }: Decoded): boolean {
  return AMOUNTS.has(`${name}(${args.map(({ type }) => type).join(",")})`);
}

/** The amounts of `calls`, once the decimals of their tokens are known. ERC-721 tokens have none, so their ids stay numbers. */
export function useCallAmounts(calls: readonly Call[], key: string): CallAmounts {
  const loaded = useLoaded(async () => {
    const tokens = new Set<string>();
    for (const { to, input } of calls) {
      const decoded = to && tokens.size < TOKENS_MAX ? decodeCall(to, input as never) : undefined;
      if (to && decoded && hasAmount(decoded)) tokens.add(to.toLowerCase());
    }
    const infos = await Promise.all(
      [...tokens].map(async (token) => [token, await tokenInfo(token as never)] as const),
    );
    return new Map<string, TokenInfo>(infos);
  }, [key]);
  return (to, decoded) => {
    const info = to && loaded.kind === "ready" ? loaded.value.get(to.toLowerCase()) : undefined;
    if (decoded === undefined || info?.decimals === undefined || !hasAmount(decoded)) return undefined;
    return amountText(BigInt(decoded.args.at(-1)!.text), info);
  };
}
