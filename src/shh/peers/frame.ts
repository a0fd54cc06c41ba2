import { concatBytes } from "../../primitives/bytes.ts";

/**
 * A packet on a stream: length of what follows, u32 big-endian, code 1, payload.
 *
 *     0x00 status      the version, one byte
 *     0x01 messages    RLP list of envelopes
 */
export const PACKET = { status: 0x00, messages: 0x01 } as const;
export const PROTOCOL_VERSION = 2;
/** Sixteen of the largest envelopes. */
export const PACKET_BYTES_MAX = 1 << 20;

const LENGTH_BYTES = 4;

export type Packet = { readonly code: number; readonly payload: Uint8Array };

export function encodePacket({ code, payload }: Packet): Uint8Array {
  const head = Buffer.alloc(LENGTH_BYTES + 1);
  head.writeUInt32BE(payload.length + 1);
  head[LENGTH_BYTES] = code;
  return concatBytes(head, payload);
}

/** Puts the chunks of a stream together to packets. */
export class PacketReader {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Of the packet that is not complete, with its prefix; undefined: not known yet. */
  #wanted: number | undefined;

  /** @returns undefined when a packet is too long to be one; nothing can be read afterwards */
  push(chunk: Uint8Array): Packet[] | undefined {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const packets: Packet[] = [];
    // Chunks are joined once for each packet: a sender of single bytes costs no more than its bytes.
    while (this.#length >= (this.#wanted ?? LENGTH_BYTES)) {
      const bytes = Buffer.concat(this.#chunks);
      this.#chunks = [bytes];
      if (this.#wanted === undefined) {
        const length = bytes.readUInt32BE();
        if (length === 0 || length > PACKET_BYTES_MAX) return undefined;
        this.#wanted = LENGTH_BYTES + length;
        continue;
      }
      const end = this.#wanted;
      packets.push({ code: bytes[LENGTH_BYTES]!, payload: bytes.subarray(LENGTH_BYTES + 1, end) });
      this.#chunks = [bytes.subarray(end)];
      this.#length -= end;
      this.#wanted = undefined;
    }
    return packets;
  }
}
