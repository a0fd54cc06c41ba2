import {
  CALLS,
  type CallName,
  EXCEPTION_REPLY,
  exception,
  type Reply,
  type Request,
  UNSUPPORTED_REQUESTS,
} from "./messages.ts";
import {
  decodeMessage,
  encodeMessage,
  encodeVarint,
  type Fields,
  LENGTH_DELIMITED,
  lengthAt,
  MalformedProtobufError,
  type MessageType,
  WireReader,
} from "./protobuf.ts";

/** A block has at most 100 MiB; larger frames are rejected. */
export const FRAME_BYTES_MAX = 128 << 20;

/** A received call: its name and fields. */
export type AbciRequest = {
  readonly [Name in CallName]: { readonly call: Name; readonly fields: Request<Name> };
}[CallName];

/** A received reply; `exception` ends the connection. */
export type AbciReply =
  | { readonly [Name in CallName]: { readonly call: Name; readonly fields: Reply<Name> } }[CallName]
  | { readonly call: "exception"; readonly fields: { readonly error: string } };

type Side = "request" | "reply";
type AnyMessage = MessageType<Fields>;

const byNumber = (side: Side) =>
  new Map<number, readonly [CallName, AnyMessage]>(
    (Object.keys(CALLS) as CallName[]).map((name) => {
      const [number, type] = CALLS[name][side];
      return [number, [name, type as AnyMessage]];
    }),
  );
const REQUESTS = byNumber("request");
const REPLIES = byNumber("reply");

/** One frame: the length of the message as a varint, then the message with its only member. */
function frame(number: number, type: AnyMessage, fields: object): Uint8Array {
  const member = encodeMessage(type, fields);
  const head = encodeVarint(number * 8 + LENGTH_DELIMITED);
  const memberLength = encodeVarint(member.length);
  const length = head.length + memberLength.length + member.length;
  return Buffer.concat([encodeVarint(length), head, memberLength, member]);
}

export function requestFrame<Name extends CallName>(name: Name, fields: Partial<Request<Name>>): Uint8Array {
  const [number, type] = CALLS[name].request;
  return frame(number, type as AnyMessage, fields);
}

export function replyFrame<Name extends CallName>(name: Name, fields: Partial<Reply<Name>>): Uint8Array {
  const [number, type] = CALLS[name].reply;
  return frame(number, type as AnyMessage, fields);
}

export function exceptionFrame(error: string): Uint8Array {
  return frame(EXCEPTION_REPLY, exception, { error });
}

/** @throws MalformedProtobufError also for a call that is unknown to ABCI or not supported */
export function decodeRequest(bytes: Uint8Array): AbciRequest {
  const [number, member] = memberOf(bytes);
  const known = REQUESTS.get(number);
  if (known === undefined) {
    const name = UNSUPPORTED_REQUESTS.get(number) ?? `number ${number}`;
    throw new MalformedProtobufError(`request ${name} is not supported`);
  }
  const [call, type] = known;
  return { call, fields: decodeMessage(type, member) } as unknown as AbciRequest;
}

/** @throws MalformedProtobufError */
export function decodeReply(bytes: Uint8Array): AbciReply {
  const [number, member] = memberOf(bytes);
  if (number === EXCEPTION_REPLY) {
    return { call: "exception", fields: decodeMessage(exception, member) };
  }
  const known = REPLIES.get(number);
  if (known === undefined) throw new MalformedProtobufError(`unknown reply ${number}`);
  const [call, type] = known;
  return { call, fields: decodeMessage(type, member) } as unknown as AbciReply;
}

/** Number and bytes of the only member of a oneof. */
function memberOf(bytes: Uint8Array): readonly [number, Uint8Array] {
  const reader = new WireReader(bytes);
  const tag = reader.uint32();
  if ((tag & 7) !== LENGTH_DELIMITED) throw new MalformedProtobufError("a message holds one call");
  const member = reader.lengthDelimited();
  if (!reader.isAtEnd) throw new MalformedProtobufError("a message holds one call");
  return [tag >>> 3, member];
}

/** Splits a byte stream into messages. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Bytes needed to complete the next message; avoids joining chunks on each arrival. */
  #wanted = 1;

  /**
   * The messages that `chunk` completes.
   * @throws MalformedProtobufError for a frame above FRAME_BYTES_MAX
   */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return [];
    let bytes: Uint8Array = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    const messages: Uint8Array[] = [];
    this.#wanted = 1;
    for (;;) {
      const length = lengthAt(bytes, 0);
      if (length === undefined) break;
      if (length.value > FRAME_BYTES_MAX) {
        throw new MalformedProtobufError(`frame of ${length.value} bytes is too large`);
      }
      const end = length.end + length.value;
      if (end > bytes.length) {
        this.#wanted = end;
        break;
      }
      messages.push(bytes.subarray(length.end, end));
      bytes = bytes.subarray(end);
    }
    this.#chunks = bytes.length > 0 ? [bytes] : [];
    this.#length = bytes.length;
    return messages;
  }
}
