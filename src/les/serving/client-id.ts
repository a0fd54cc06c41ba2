import { hexDigits } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";

/** 64 lower-case hex digits without prefix, as node ids are written. */
export type ClientId = string & { readonly __clientId: never };

const DIGITS = /^[0-9a-f]{64}$/;
const ENODE = /^enode:\/\/([0-9a-f]{128})@/;

/** @param kind "key": an API key or the subject of a token; "ip": a remote address */
export function clientIdOf(kind: "key" | "ip", name: string): ClientId {
  return hexDigits(keccak256(Buffer.from(`${kind}:${name}`))) as ClientId;
}

/** An id with or without `0x`, or an enode URL; undefined when `text` is neither. */
export function parseClientId(text: string): ClientId | undefined {
  const lower = text.toLowerCase();
  const publicKey = ENODE.exec(lower)?.[1];
  if (publicKey !== undefined) {
    return hexDigits(keccak256(Buffer.from(publicKey, "hex"))) as ClientId;
  }
  const digits = lower.startsWith("0x") ? lower.slice(2) : lower;
  return DIGITS.test(digits) ? (digits as ClientId) : undefined;
}
