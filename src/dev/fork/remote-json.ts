import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { type Hash, parseHash } from "../../base/primitives/hash.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { isJsonObject, type JsonObject } from "../../base/primitives/shape.ts";
import { ForkRemoteError } from "./errors.ts";

/** What one answer of a remote node may take. Its memory is some four times its bytes while it is decoded. */
export type JsonLimits = { readonly bytes: number; readonly depth: number };

/** Each value takes up to a hundred bytes of memory, whatever its length in the text; a node's hex values are longer than this. */
const BYTES_PER_VALUE = 32;
/** Of any answer, also a short one. */
const VALUES_MIN = 1_000;

/** A batch of a hundred calls for the largest code has 5 MB; traces nest two levels for each of 1,024 frames, and JSON.stringify overflows the stack at some 5,000. */
export const ANSWER_LIMITS: JsonLimits = { bytes: 32 << 20, depth: 2_200 };

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Estimates the memory of the parsed JSON while its bytes arrive, so that a small text with a huge value is never parsed. */
class JsonMeter {
  readonly #limits: JsonLimits;
  #bytes = 0;
  #values = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @throws ForkRemoteError */
  add(chunk: Uint8Array): void {
    const { bytes, depth } = this.#limits;
    const values = VALUES_MIN + bytes / BYTES_PER_VALUE;
    this.#bytes += chunk.length;
    if (this.#bytes > bytes) throw tooLarge(`more than ${bytes} bytes`);
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === COMMA) this.#values++;
      else if (OPENING.has(byte)) {
        this.#values++;
        this.#depth++;
        if (this.#depth > depth) throw tooLarge(`more than ${depth} levels`);
      } else if (CLOSING.has(byte)) this.#depth--;
    }
    if (this.#values > values) throw tooLarge(`more than ${Math.floor(values)} values`);
  }
}

/**
 * The JSON value in the body of `response`, read up to `limits`. An encoded body (gzip) counts as unpacked: `fetch` unpacks it piece by piece.
 * @throws ForkRemoteError for text that is not JSON or too large; errors of the connection
 */
export async function readJson(
  { body, headers }: Pick<Response, "body" | "headers">,
  limits = ANSWER_LIMITS,
): Promise<unknown> {
  if (Number(headers.get("content-length")) > limits.bytes) {
    await body?.cancel();
    throw tooLarge(`more than ${limits.bytes} bytes`);
  }
  const meter = new JsonMeter(limits);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const parts: string[] = [];
  // Leaving the loop by an error ends the connection.
  for await (const chunk of body ?? []) {
    meter.add(chunk);
    parts.push(decode(() => decoder.decode(chunk, { stream: true })));
  }
  parts.push(decode(() => decoder.decode()));
  return decode(() => JSON.parse(parts.join("")) as unknown);
}

/** @throws ForkRemoteError without any of the text, which may come from a private server that is not a node */
function decode<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw new ForkRemoteError("an answer without JSON");
  }
}

function tooLarge(text: string): ForkRemoteError {
  return new ForkRemoteError(`an answer of ${text}`);
}

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
  if (isJsonObject(value)) return value;
  throw new ForkRemoteError("the remote chain answered no object");
}

/** @throws ForkRemoteError */
export function listOf(value: unknown, lengthMax: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= lengthMax) return value;
  throw new ForkRemoteError(`the remote chain answered no list of up to ${lengthMax} items`);
}
