import { type Address, parseAddress } from "../../primitives/address.ts";
import { type Hash, parseHash } from "../../primitives/hash.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { ForkRemoteError } from "./errors.ts";

/** An object as a remote node answered it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A non-negative integer of up to `bits`, in hex. Leading zeros are accepted: some nodes pad.
 * @throws ForkRemoteError
 */
export function bigintOf(value: unknown, bits = 256): bigint {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    const number = BigInt(value);
    if (BigInt.asUintN(bits, number) === number) return number;
  }
  throw new ForkRemoteError(`the remote chain answered no number of ${bits} bits`);
}

/** DATA of up to `lengthMax` bytes. @throws ForkRemoteError */
export function bytesOf(value: unknown, lengthMax = Number.POSITIVE_INFINITY): Uint8Array {
  const isData = typeof value === "string" && /^0x(?:[0-9a-fA-F]{2})*$/.test(value);
  if (isData && value.length <= 2 + 2 * lengthMax) return hexToBytes(value);
  throw new ForkRemoteError(`the remote chain answered no data of up to ${lengthMax} bytes`);
}

/** @throws ForkRemoteError */
export function hashOf(value: unknown): Hash {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value)) return parseHash(value);
  throw new ForkRemoteError("the remote chain answered no hash");
}

/** @throws ForkRemoteError */
export function addressOf(value: unknown): Address {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) return parseAddress(value);
  throw new ForkRemoteError("the remote chain answered no address");
}

/** @throws ForkRemoteError */
export function objectOf(value: unknown): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw new ForkRemoteError("the remote chain answered no object");
}

/** @throws ForkRemoteError */
export function listOf(value: unknown, lengthMax: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= lengthMax) return value;
  throw new ForkRemoteError(`the remote chain answered no list of up to ${lengthMax} items`);
}
