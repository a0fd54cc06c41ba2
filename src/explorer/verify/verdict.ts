import { NodeError } from "../../errors.ts";
import type { Json } from "./json.ts";

/** What a check of something the node has answered came out with. */
export type Verdict =
  /** recomputed here, up to a root that is verified itself */
  | { readonly kind: "verified" }
  /** the answer contradicts its proof, or the proof is not one */
  | { readonly kind: "false"; readonly reason: string }
  /** the node did not give what is needed to check */
  | { readonly kind: "unverified"; readonly reason: string };

export const VERIFIED: Verdict = { kind: "verified" };

export function falseVerdict(reason: string): Verdict {
  return { kind: "false", reason };
}

export function unverified(reason: string): Verdict {
  return { kind: "unverified", reason };
}

/** Compares what the node says with what was proven, both in their JSON form. */
export function compare(name: string, claimed: unknown, proven: unknown): Verdict {
  const [a, b] = [JSON.stringify(claimed ?? null), JSON.stringify(proven ?? null)];
  return a.toLowerCase() === b.toLowerCase()
    ? VERIFIED
    : falseVerdict(`${name}: the node says ${a}, its proof ${b}`);
}

/** Compares every member that both have: clients differ in which they add. */
export function compareMembers(claimed: Json, proven: Json): Verdict {
  const names = Object.keys(claimed).filter((name) => name in proven);
  return worstOf(names.map((name) => compare(name, claimed[name], proven[name])));
}

/** The worst of `verdicts`: a false one, else an unverified one. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ kind }) => kind === "false") ??
    verdicts.find(({ kind }) => kind === "unverified") ??
    VERIFIED
  );
}

/** The verdict of `check`; an answer that cannot be decoded or is no proof is false. Bugs are thrown. */
export function verdictOf(check: () => Verdict): Verdict {
  try {
    return check();
  } catch (error) {
    if (error instanceof NodeError) return falseVerdict(error.message);
    throw error;
  }
}
