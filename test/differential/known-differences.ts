import type { Answer } from "./compare.ts";
import type { DifferentialCase } from "./corpus/request.ts";

export type Found = DifferentialCase & {
  readonly ours: Answer;
  readonly theirs: Answer;
  /** Path of the first place where they differ. */
  readonly at: string;
};

/** The reason for a difference that docs/compliance.md lists; undefined for any other. */
export function knownReason(found: Found): string | undefined {
  return REASONS.find(({ holds }) => holds(found))?.reason;
}

type Reason = { readonly reason: string; readonly holds: (found: Found) => boolean };

const REASONS: readonly Reason[] = [
  {
    reason: "this geth is too old for the method",
    holds: ({ theirs }) => codeOf(theirs) === -32601,
  },
];

function codeOf({ error }: Answer): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
