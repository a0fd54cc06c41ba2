import type { Address } from "../../../../base/primitives/address.ts";
import { TRANSFER_TOPIC } from "../../../../base/types/transfer-log.ts";
import { isOfContract, TRANSFER_BATCH, TRANSFER_SINGLE } from "./holders.ts";
import { findLogs } from "./logs.ts";
import { type TokenFacts, tokenFacts } from "./token-facts.ts";

export type ListedToken = TokenFacts & {
  readonly token: Address;
  /** logs that were found */
  readonly transfers: number;
};

/** Contracts of the list: each costs seven calls, and anyone can emit a log. */
export const LISTED_TOKENS_MAX = 50;

/** Contracts with transfer logs that answer as tokens, those with the newest log first. */
export async function listTokens(): Promise<{
  readonly tokens: readonly ListedToken[];
  readonly from: number;
  readonly isCut: boolean;
}> {
  const { logs, from } = await findLogs({ topics: [[TRANSFER_TOPIC, TRANSFER_SINGLE, TRANSFER_BATCH]] });
  const counts = new Map<Address, number>();
  for (const { address } of logs.filter(isOfContract).toReversed()) counts.set(address, (counts.get(address) ?? 0) + 1);
  const tokens = await Promise.all(
    [...counts].slice(0, LISTED_TOKENS_MAX).map(async ([token, transfers]) => {
      const facts = await tokenFacts(token);
      return facts && { ...facts, token, transfers };
    }),
  );
  return { tokens: tokens.filter((token) => token !== undefined), from, isCut: counts.size > LISTED_TOKENS_MAX };
}
