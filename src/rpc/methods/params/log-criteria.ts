import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { type BlockNumberOrTag, blockNumberOrTag } from "../../ports/block-selector.ts";
import {
  address,
  dataFault,
  hash,
  type JsonSchema,
  jsonKind,
  object,
  type ParamCodec,
  typeFault,
} from "../../transport/codec.ts";
import { InvalidParamsError, InvalidValueError, LogFilterTermsError } from "../../transport/errors.ts";

/** The filter object of `eth_getLogs`, `eth_newFilter` and the `logs` subscription. */
export type LogCriteria = {
  /** EIP-234: one block instead of a range. */
  readonly blockHash: Hash | undefined;
  readonly fromBlock: BlockNumberOrTag | undefined;
  readonly toBlock: BlockNumberOrTag | undefined;
  /** Empty: any. */
  readonly addresses: readonly Address[];
  /** By position; an empty one matches any topic. */
  readonly topics: readonly (readonly Hash[])[];
};

const POSITIONS_MAX = 4;
/** Of one position, while decoding: geth's bound, whatever is configured. */
const TOPICS_MAX = 1000;

const anything = (schema: JsonSchema): ParamCodec<unknown> => ({
  schema,
  decode: (value) => value,
});

const addressSchema = address.schema ?? {};
const topicSchema = { oneOf: [hash.schema ?? {}, { type: "null" }] };

const members = object(
  "input",
  {
    blockHash: hash,
    fromBlock: blockNumberOrTag,
    toBlock: blockNumberOrTag,
    address: anything({ oneOf: [addressSchema, { type: "array", items: addressSchema }] }),
    topics: anything({
      type: "array",
      items: { oneOf: [topicSchema, { type: "array", items: topicSchema }] },
      maxItems: POSITIONS_MAX,
    }),
  },
  "filters.input",
);

/** Reads the object; `blockhash`, as EIP-234 first spelled it, and any other letter case are known too. */
export const logCriteria: ParamCodec<LogCriteria> = {
  schema: { ...members.schema, title: "log filter" },
  decode(value, field) {
    const { blockHash, fromBlock, toBlock, topics, ...rest } = members.decode(value, field);
    if (topics !== undefined && !Array.isArray(topics)) {
      throw typeFault(jsonKind(topics), "[]interface {}", "input.topics");
    }
    if (blockHash !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
      throw new InvalidValueError("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other");
    }
    return {
      blockHash,
      fromBlock,
      toBlock,
      addresses: decodeAddresses(rest.address),
      topics: decodeTopics(topics ?? []),
    };
  },
};

/**
 * @param termsMax addresses, and topics at one position; 0: no limit
 * @throws LogFilterTermsError
 */
export function assertTermCount({ addresses, topics }: LogCriteria, termsMax: number): void {
  const most = Math.max(addresses.length, ...topics.map(({ length }) => length));
  if (termsMax > 0 && most > termsMax) throw new LogFilterTermsError();
}

export type BlockRange = { readonly from: number; readonly to: number };

/**
 * The blocks `criteria`, which has no block hash, asks for; all of them are there.
 * @param oldest number of the oldest block that is served
 * @param head number of the newest block
 * @throws InvalidParamsError
 */
export function resolveRange({ fromBlock, toBlock }: LogCriteria, oldest: number, head: number): BlockRange {
  if (fromBlock === "pending" || toBlock === "pending") throw pendingFault();
  // Every block is final, so that the other tags name the head.
  const numberOf = (selector: BlockNumberOrTag | undefined) =>
    typeof selector === "number" ? selector : selector === "earliest" ? oldest : head;
  const from = numberOf(fromBlock);
  const to = numberOf(toBlock);
  if (from > to) throw rangeFault();
  if (to > head) throw new InvalidParamsError("block range extends beyond current head block");
  return { from, to };
}

/**
 * Which blocks yet to come a filter or subscription wants: those from `from` to `to` that are new.
 * @throws InvalidParamsError
 */
export function resolveFutureRange({ fromBlock, toBlock, blockHash }: LogCriteria): BlockRange {
  const everything = { from: 0, to: Number.POSITIVE_INFINITY };
  if (blockHash !== undefined) return everything;
  const from = fromBlock === "earliest" ? 0 : (fromBlock ?? "latest");
  const to = toBlock ?? "latest";
  if (from === "pending" || to === "pending") throw pendingFault();
  if (from === "latest" && to === "latest") return everything;
  if (typeof from === "number" && to === "latest") return { ...everything, from };
  if (typeof from === "number" && typeof to === "number" && to >= from) return { from, to };
  throw rangeFault();
}

function rangeFault(): InvalidParamsError {
  return new InvalidParamsError("invalid block range params");
}

function pendingFault(): InvalidParamsError {
  return new InvalidParamsError("pending logs are not supported");
}

function decodeAddresses(value: unknown): Address[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [decodeAddress(value, "")];
  if (!Array.isArray(value)) throw new InvalidValueError("invalid addresses in query");
  return value.map((entry, index) => {
    if (typeof entry === "string") return decodeAddress(entry, ` at index ${index}`);
    throw new InvalidValueError(`non-string address at index ${index}`);
  });
}

function decodeAddress(text: string, position: string): Address {
  const fault = fixedFault(text, 20, "address");
  if (fault !== undefined) throw new InvalidValueError(`invalid address${position}: ${fault}`);
  return text.toLowerCase() as Address;
}

function decodeTopics(value: readonly unknown[]): Hash[][] {
  if (value.length > POSITIONS_MAX) throw new InvalidValueError("exceed max topics");
  return value.map((position) => {
    if (position === null) return [];
    if (typeof position === "string") return [decodeTopic(position)];
    if (!Array.isArray(position)) throw new InvalidValueError("invalid topic(s)");
    if (position.length > TOPICS_MAX) throw new InvalidValueError("exceed max topics");
    // One null among the alternatives lets everything through.
    const end = position.indexOf(null);
    const topics = (end < 0 ? position : position.slice(0, end)).map((topic) => {
      if (typeof topic === "string") return decodeTopic(topic);
      throw new InvalidValueError("invalid topic(s)");
    });
    return end < 0 ? topics : [];
  });
}

function decodeTopic(text: string): Hash {
  const fault = fixedFault(text, 32, "topic");
  if (fault !== undefined) throw new InvalidValueError(fault);
  return text.toLowerCase() as Hash;
}

/** Why `text` is not DATA of `length` bytes. A wrong digit comes before an odd number of them: geth decodes first here. */
function fixedFault(text: string, length: number, what: string): string | undefined {
  if (/^0[xX]/.test(text) && /[^0-9a-fA-F]/.test(text.slice(2))) return "invalid hex string";
  if (!/^0[xX](?:[0-9a-fA-F]{2})*$/.test(text)) return dataFault(text);
  const bytes = (text.length - 2) / 2;
  if (bytes === length) return undefined;
  return `hex has invalid length ${bytes} after decoding; expected ${length} for ${what}`;
}
