import type { Answer } from "./compare.ts";
import type { DifferentialCase } from "./corpus/request.ts";

export type Found = DifferentialCase & { readonly ours: Answer; readonly theirs: Answer };

type Reason = { readonly reason: string; readonly holds: (found: Found) => boolean };

const textOf = ({ error }: Answer): string =>
  (error as { message?: string } | undefined)?.message ?? "";
const codeOf = ({ error }: Answer): unknown => (error as { code?: unknown } | undefined)?.code;
const has = (params: readonly unknown[], pattern: RegExp) => pattern.test(JSON.stringify(params));

/** Differences of whole answers that docs/compliance.md lists, or that come from the age of the geth at hand. */
const REASONS: readonly Reason[] = [
  {
    reason: "this geth is too old for the method",
    holds: ({ theirs }) => codeOf(theirs) === -32601,
  },
  {
    reason: "tracers in JavaScript are missing",
    holds: ({ ours }) => textOf(ours).startsWith("tracer not found"),
  },
  {
    reason: "geth counts `limit` in bytes, this node in steps",
    holds: ({ params, method }) => method.startsWith("debug_trace") && has(params, /"limit":/),
  },
  {
    reason: "geth takes a negative `timeout` of a trace",
    holds: ({ params }) => has(params, /"timeout":"-/),
  },
  {
    reason: "geth shows the chain id of an unsigned legacy transaction as (0 - 35) / 2",
    holds: ({ theirs }) => has([theirs], /"chainId":"0x7fffffffffffffee"/),
  },
  {
    reason: "too large a creation that cannot pay for its code is out of gas here",
    holds: ({ ours, theirs }) =>
      has([ours], /contract creation code storage out of gas/) &&
      has([theirs], /max code size exceeded/),
  },
  {
    reason: "the estimate of eth_fillTransaction counts authorizations here",
    holds: ({ method, params }) =>
      method === "eth_fillTransaction" && has(params, /"authorizationList":\[\{/),
  },
  {
    reason: "as newer versions of geth answer: -38012 of eth_simulateV1",
    holds: ({ method, ours, theirs }) =>
      method === "eth_simulateV1" && codeOf(ours) === -38012 && codeOf(theirs) === -32602,
  },
  {
    reason: "geth crashes",
    holds: ({ theirs }) => textOf(theirs) === "method handler crashed",
  },
  {
    reason: "without fromBlock eth_getLogs begins at the head",
    holds: ({ method, ours }) =>
      method === "eth_getLogs" && textOf(ours) === "invalid block range params",
  },
];

/** The reason for a difference that docs/compliance.md lists; undefined for any other. */
export function knownReason(found: Found): string | undefined {
  return REASONS.find(({ holds }) => holds(found))?.reason;
}

/**
 * `answer` without what newer versions of geth answer otherwise than 1.17.0, as the recorded execution-apis conversations show: 0x in
 * struct logs, sorted access lists, sizes in texts, and members that came later.
 */
export function withoutVersion(answer: unknown): unknown {
  if (typeof answer === "string") return withoutSizes(answer);
  if (Array.isArray(answer)) return answer.map(withoutVersion);
  if (typeof answer !== "object" || answer === null) return answer;
  const members = Object.entries(answer).filter(([name]) => name !== "maxUsedGas");
  return Object.fromEntries(
    members.map(([name, value]) => {
      if (name === "accessList" && Array.isArray(value)) return [name, sorted(value)];
      if (name === "memory" && Array.isArray(value)) return [name, value.map(withoutPrefix)];
      if (name === "storage" && "pc" in answer) return [name, storageWithoutPrefix(value)];
      return [name, withoutVersion(value)];
    }),
  );
}

function withoutSizes(text: string): string {
  return text
    .replace(/(code size exceeded|initcode size exceeded):? (code )?size \d+( limit \d+)?/, "$1")
    .replace("out of gas: write protection", "write protection");
}

function withoutPrefix(word: unknown): unknown {
  return typeof word === "string" ? word.replace(/^0x/, "") : word;
}

function storageWithoutPrefix(storage: unknown): unknown {
  const entries = Object.entries(storage as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([key, value]) => [withoutPrefix(key), withoutPrefix(value)]),
  );
}

function sorted(list: readonly unknown[]): readonly unknown[] {
  const texts = list.map((entry) => {
    const { address, storageKeys } = entry as { address: string; storageKeys: readonly string[] };
    return { address, storageKeys: [...storageKeys].sort() };
  });
  return texts.sort((a, b) => (a.address < b.address ? -1 : 1));
}
