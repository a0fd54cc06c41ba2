import { NodeError } from "../../../base/errors.ts";
import { type Address, parseAddress } from "../../../base/primitives/address.ts";
import { type Hash, parseHash } from "../../../base/primitives/hash.ts";
import { hexToBytes, InvalidHexError } from "../../../base/primitives/hex.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";

/** An object from a node, unverified. */
export type Json = Readonly<Record<string, unknown>>;

/** @throws InvalidHexError */
export function textOf(value: unknown): string {
  if (typeof value !== "string") throw new InvalidHexError("hex string expected");
  return value;
}

/** @throws InvalidHexError unless `value` is a QUANTITY of at most 256 bits: converting more digits takes more than linear time */
export function bigintOf(value: unknown): bigint {
  const text = textOf(value);
  if (!/^0x[0-9a-f]{1,64}$/i.test(text)) throw new InvalidHexError("quantity expected");
  return BigInt(text);
}

/** @throws InvalidHexError unless `value` is a QUANTITY below 2^53 */
export function numberOf(value: unknown): number {
  const number = Number(bigintOf(value));
  if (!Number.isSafeInteger(number)) throw new InvalidHexError("quantity below 2^53 expected");
  return number;
}

const INT64_MAX = (1n << 63n) - 1n;

/** @throws InvalidHexError unless `value` is a QUANTITY below 2^63: a larger one would be encoded as another number */
export function int64Of(value: unknown): bigint {
  const number = bigintOf(value);
  if (number > INT64_MAX) throw new InvalidHexError("quantity below 2^63 expected");
  return number;
}

/** @throws InvalidHexError */
export function bytesOf(value: unknown): Uint8Array {
  return hexToBytes(textOf(value));
}

/** @throws InvalidHexError */
export function hashOf(value: unknown): Hash {
  return parseHash(textOf(value));
}

/** @throws InvalidHexError */
export function addressOf(value: unknown): Address {
  return parseAddress(textOf(value));
}

/** @throws InvalidHexError */
export function objectOf(value: unknown): Json {
  if (!isJsonObject(value)) {
    throw new InvalidHexError("object expected");
  }
  return value as Json;
}

/** @throws InvalidHexError */
export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidHexError("list expected");
  return value;
}

/** The result of checking a node's answer. */
export type Verdict =
  /** recomputed here, up to a verified root */
  | { readonly kind: "verified" }
  /** the answer contradicts its proof, or the proof is invalid */
  | { readonly kind: "false"; readonly reason: string }
  /** the node did not return the data needed for the check */
  | { readonly kind: "unverified"; readonly reason: string };

export const VERIFIED: Verdict = { kind: "verified" };

export function falseVerdict(reason: string): Verdict {
  return { kind: "false", reason };
}

export function unverified(reason: string): Verdict {
  return { kind: "unverified", reason };
}

/** Maximum length of a value in a reason: shows the difference, but a node cannot fill the page. */
const SHOWN_LENGTH_MAX = 200;

/**
 * Compares the node's claim with the proven value, both as JSON. For objects, all members that both have count. A member that only the node has
 * is unverified if it is shown; clients differ in their additional members. Letter case does not count, as in checksummed addresses.
 * @param shown members of objects that pages show; undefined: all
 */
export function compare(name: string, claimed: unknown, proven: unknown, shown?: ReadonlySet<string>): Verdict {
  if (Array.isArray(claimed) && Array.isArray(proven) && claimed.length === proven.length) {
    return worstOf(claimed.map((item, i) => compare(`${name}[${i}]`, item, proven[i], shown)));
  }
  if (isJsonObject(claimed) && isJsonObject(proven)) {
    const prefix = name === "" ? "" : `${name}.`;
    return worstOf(
      Object.entries(claimed).map(([member, value]) => {
        if (Object.hasOwn(proven, member)) {
          return compare(prefix + member, value, proven[member], shown);
        }
        const isUnseen = (value ?? null) === null || (shown && !shown.has(member));
        return isUnseen ? VERIFIED : unverified(`${prefix}${member}: nothing proves it`);
      }),
    );
  }
  const [a = "", b = ""] = [claimed, proven].map((each) => JSON.stringify(each ?? null).toLowerCase());
  if (a === b) return VERIFIED;
  return falseVerdict(`${name}: the node says ${clipped(a)}, its proof ${clipped(b)}`);
}

function clipped(text: string): string {
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

/** The worst of `verdicts`: a false one, else an unverified one. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ kind }) => kind === "false") ?? verdicts.find(({ kind }) => kind === "unverified") ?? VERIFIED
  );
}

/** The verdict of `check`; false for an answer that cannot be decoded or a proof that is invalid. Bugs are thrown. */
export function verdictOf(check: () => Verdict): Verdict {
  try {
    return check();
  } catch (error) {
    if (error instanceof NodeError) return falseVerdict(error.message);
    throw error;
  }
}
