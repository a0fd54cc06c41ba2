import { randomBytes } from "node:crypto";

/** A new identifier of a filter or subscription: 16 random bytes as a QUANTITY, so that none can be guessed. */
export function randomId(): string {
  const digits = randomBytes(16).toString("hex").replace(/^0+/, "");
  return digits === "" ? randomId() : `0x${digits}`;
}
