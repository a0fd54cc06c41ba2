import { bigintToBytes, bytesToBigint } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256, keccak256Hash } from "../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp, InvalidRlpError, type RlpItem } from "../../base/primitives/rlp.ts";
import { InvalidEnvelopeError } from "./errors.ts";
import { workProved } from "./proof-of-work.ts";

/** A message on the network: RLP of `[expiry, ttl, [topic …], data, nonce]`. */
export type Envelope = {
  /** Unix seconds */
  readonly expiry: number;
  /** Seconds; the envelope was sealed at expiry − ttl. */
  readonly ttl: number;
  /** 4 bytes each */
  readonly topics: readonly Uint8Array[];
  /** Flags, signature and payload; see message.ts. */
  readonly data: Uint8Array;
  /** Nonce of the proof of work; below 2^256 */
  readonly nonce: bigint;
};

/** An envelope with its derived values. */
export type SealedEnvelope = Envelope & {
  /** keccak256 of the RLP */
  readonly hash: Hash;
  readonly rlp: Uint8Array;
  /** Leading zero bits of the proof of work. */
  readonly workProved: number;
};

const TOPIC_LENGTH = 4;
/** Web pages use three or four; each is compared with each filter. */
const TOPICS_MAX = 64;
/** Maximum lifetime of an envelope: a week. */
export const TTL_MAX = 7 * 86_400;
/** Maximum message before signing and encryption. */
export const PAYLOAD_BYTES_MAX = 64 << 10;
/** Flags, signature and encryption around a payload. */
const DATA_BYTES_MAX = PAYLOAD_BYTES_MAX + 1024;
/** The largest payload with all topics. */
const ENVELOPE_BYTES_MAX = DATA_BYTES_MAX + 1024;
/** How far a sender's clock may be ahead. */
const CLOCK_SKEW_S = 20;

/** The wire topic of a program's topic. */
export function wireTopic(topic: Uint8Array): Uint8Array {
  return keccak256(topic).slice(0, TOPIC_LENGTH);
}

/** Input of the proof of work: keccak256 of the RLP without the nonce. */
export function workSeed(envelope: Omit<Envelope, "nonce">): Uint8Array {
  return keccak256(encodeRlp(fieldsBeforeNonce(envelope)));
}

export function sealEnvelope(envelope: Envelope): SealedEnvelope {
  const rlp = encodeRlp([...fieldsBeforeNonce(envelope), bigintToBytes(envelope.nonce)]);
  return sealed(envelope, rlp);
}

/**
 * Decodes an envelope's RLP; the result is a view of it.
 * @throws InvalidEnvelopeError
 */
export function decodeEnvelope(rlp: Uint8Array): SealedEnvelope {
  if (rlp.length > ENVELOPE_BYTES_MAX) throw new InvalidEnvelopeError("envelope too large");
  let item: RlpItem;
  try {
    item = decodeRlp(rlp);
  } catch (error) {
    if (error instanceof InvalidRlpError) throw invalid("not RLP", error);
    throw error;
  }
  if (item instanceof Uint8Array || item.length !== 5) throw invalid("not five fields");
  const [expiry, ttl, topics, data, nonce] = item;
  if (!Array.isArray(topics) || topics.length > TOPICS_MAX) throw invalid("topics");
  if (!(data instanceof Uint8Array) || data.length === 0) throw invalid("data");
  if (data.length > DATA_BYTES_MAX) throw invalid("data too large");
  for (const topic of topics) {
    if (!(topic instanceof Uint8Array) || topic.length !== TOPIC_LENGTH) throw invalid("topic");
  }
  const envelope = {
    expiry: Number(uintOf(expiry, 4)),
    ttl: Number(uintOf(ttl, 4)),
    topics: topics as readonly Uint8Array[],
    data,
    nonce: uintOf(nonce, 32),
  };
  return sealed(envelope, rlp);
}

/** @throws InvalidEnvelopeError if the envelope was sealed after `nowSeconds`; expired ones pass */
export function assertTimely({ expiry, ttl }: Envelope, nowSeconds: number): void {
  if (ttl === 0 || ttl > TTL_MAX) throw invalid(`ttl ${ttl}`);
  if (expiry - ttl > nowSeconds + CLOCK_SKEW_S) throw invalid("sent in the future");
}

function fieldsBeforeNonce({ expiry, ttl, topics, data }: Omit<Envelope, "nonce">): RlpItem[] {
  return [bigintToBytes(BigInt(expiry)), bigintToBytes(BigInt(ttl)), topics, data];
}

function sealed(envelope: Envelope, rlp: Uint8Array): SealedEnvelope {
  return {
    ...envelope,
    rlp,
    hash: keccak256Hash(rlp),
    workProved: workProved(workSeed(envelope), envelope.nonce),
  };
}

function uintOf(item: RlpItem | undefined, lengthMax: number): bigint {
  const isUint = item instanceof Uint8Array && item.length <= lengthMax && item[0] !== 0;
  if (!isUint) throw invalid("integer");
  return bytesToBigint(item);
}

function invalid(reason: string, cause?: Error): InvalidEnvelopeError {
  return new InvalidEnvelopeError(`invalid envelope: ${reason}`, {}, cause && { cause });
}
