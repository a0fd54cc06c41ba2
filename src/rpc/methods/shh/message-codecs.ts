import { concatBytes } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import { wireTopic } from "../../../heritage/shh/envelope.ts";
import { type Identity, identityFromBytes, isPublicKey } from "../../../heritage/shh/message.ts";
import type { MessageCriteria } from "../../../heritage/shh/message-filters.ts";
import type { Post, WhisperMessage } from "../../../heritage/shh/whisper.ts";
import {
  array,
  type Codec,
  data,
  jsonKind,
  lenientInteger,
  type ParamCodec,
  type ResultCodec,
  typeFault,
} from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";

/** Seconds, and milliseconds of work, of a post that does not name them. */
const TTL = 50;
const PRIORITY_MS = 50;

/** A public key of 65 bytes, or of 64 without its first byte 04; the wiki's 60 is a mistake. */
export const identity: Codec<Identity> = {
  schema: { title: "identity", type: "string", pattern: "^0x(04)?[0-9a-fA-F]{128}$" },
  decode: (value, field) => identityFromBytes(decodeKey(value, field)),
  encode: (value) => `"${value}"`,
};

/** The same, which also is a point of the curve: somebody to encrypt for. */
export const recipient: ParamCodec<Uint8Array> = {
  schema: identity.schema!,
  decode(value, field) {
    const key = decodeKey(value, field);
    if (!isPublicKey(key)) throw new InvalidValueError("not a public key");
    return key;
  },
};

function decodeKey(value: unknown, field: string | undefined): Uint8Array {
  const bytes = data.decode(value, field);
  if (bytes.length === 64) return concatBytes(Uint8Array.of(4), bytes);
  if (bytes.length === 65 && bytes[0] === 4) return bytes;
  throw new InvalidValueError(`identity of ${bytes.length} bytes, want 65`);
}

/** The object of `shh_post`. */
export const post: ParamCodec<Post> = {
  schema: {
    title: "post",
    type: "object",
    properties: {
      from: identity.schema,
      to: identity.schema,
      topics: { type: "array", items: data.schema },
      payload: data.schema,
      priority: { title: "milliseconds of work" },
      ttl: { title: "seconds" },
    },
  },
  decode(value) {
    const { from, to, topics, payload, priority, workToProve, ttl } = members(value, "post");
    return {
      from: isAbsent(from) ? undefined : identity.decode(from, "post.from"),
      to: isAbsent(to) ? undefined : recipient.decode(to, "post.to"),
      topics: isAbsent(topics) ? [] : array(data, "[]string").decode(topics, "post.topics"),
      payload: payload === undefined || payload === null ? new Uint8Array(0) : data.decode(payload, "post.payload"),
      // cpp-ethereum's name of it is workToProve.
      priority: integerOr(priority ?? workToProve, PRIORITY_MS, "post.priority"),
      ttl: integerOr(ttl, TTL, "post.ttl"),
    };
  },
};

/** The object of `shh_newFilter`; texts of its errors are geth's. */
export const criteria: ParamCodec<MessageCriteria> = {
  schema: {
    title: "message filter",
    type: "object",
    properties: { to: identity.schema, from: identity.schema, topics: { type: "array" } },
  },
  decode(value) {
    const { to, from, topics } = members(value, "filter");
    if (!isAbsent(to) && typeof to !== "string") throw new InvalidValueError("to is not a string");
    if (!isAbsent(from) && typeof from !== "string") {
      throw new InvalidValueError("from is not a string");
    }
    if (!isAbsent(topics) && !Array.isArray(topics)) {
      throw new InvalidValueError("topics is not an array");
    }
    return {
      to: isAbsent(to) ? undefined : identity.decode(to, "filter.to"),
      from: isAbsent(from) ? undefined : identity.decode(from, "filter.from"),
      topics: ((topics ?? []) as unknown[]).map(decodePosition),
    };
  },
};

function decodePosition(value: unknown, index: number): readonly Uint8Array[] {
  if (value === null || value === "") return [];
  const given = Array.isArray(value) ? value : [value];
  return given.map((topic, alternative) => {
    const name = Array.isArray(value) ? `topic[${index}][${alternative}]` : `topic[${index}]`;
    if (typeof topic === "string") return wireTopic(data.decode(topic, name));
    throw new InvalidValueError(Array.isArray(value) ? `${name} is not a string` : `${name} not a string or array`);
  });
}

/** What programs read; numbers as QUANTITY, absent identities as `0x`. */
export const messages: ResultCodec<readonly WhisperMessage[]> = {
  schema: { type: "array", items: { title: "message", type: "object" } },
  encode: (all) => JSON.stringify(all.map(messageObject)),
};

function messageObject(message: WhisperMessage) {
  const { hash, from, to, expiry, ttl, sent, topics, payload, workProved } = message;
  return {
    hash,
    from: from ?? "0x",
    to: to ?? "0x",
    expiry: hex(expiry),
    ttl: hex(ttl),
    sent: hex(sent),
    topics: topics.map(bytesToHex),
    payload: bytesToHex(payload),
    workProved: hex(workProved),
  };
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function members(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) {
    return value as Record<string, unknown>;
  }
  throw typeFault(jsonKind(value), name);
}

/** Empty texts and `0x` count as left out. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === "0x";
}

function integerOr(value: unknown, fallback: number, field: string): number {
  return value === undefined || value === null ? fallback : lenientInteger.decode(value, field);
}
