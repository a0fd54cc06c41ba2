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

/**
 * Compares what the node says with what was proven, both in their JSON form. Of objects every member that both have counts:
 * clients differ in which they add. Letter case does not, as in checksummed addresses.
 */
export function compare(name: string, claimed: unknown, proven: unknown): Verdict {
  if (Array.isArray(claimed) && Array.isArray(proven) && claimed.length === proven.length) {
    return worstOf(claimed.map((item, i) => compare(`${name}[${i}]`, item, proven[i])));
  }
  if (isObject(claimed) && isObject(proven)) {
    const names = Object.keys(claimed).filter((member) => member in proven);
    const prefix = name === "" ? "" : `${name}.`;
    return worstOf(
      names.map((member) => compare(prefix + member, claimed[member], proven[member])),
    );
  }
  const [a, b] = [claimed, proven].map((value) => JSON.stringify(value ?? null).toLowerCase());
  return a === b ? VERIFIED : falseVerdict(`${name}: the node says ${a}, its proof ${b}`);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
