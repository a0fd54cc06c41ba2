import { concatBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { encodeRlpListOf, InvalidRlpError, rlpItemEnd, rlpListBounds } from "../../../base/primitives/rlp.ts";
import { decodeEnvelope, type SealedEnvelope } from "../envelope.ts";
import { InvalidEnvelopeError } from "../errors.ts";
import type { Whisper } from "../whisper.ts";

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

type Packet = { readonly code: number; readonly payload: Uint8Array };

export function encodePacket({ code, payload }: Packet): Uint8Array {
  const head = Buffer.alloc(LENGTH_BYTES + 1);
  head.writeUInt32BE(payload.length + 1);
  head[LENGTH_BYTES] = code;
  return concatBytes(head, payload);
}

/** Assembles packets from the chunks of a stream. */
export class PacketReader {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Length of the incomplete packet, including its prefix; undefined: not known yet. */
  #wanted: number | undefined;

  /** @returns undefined if a packet is too long; the reader is unusable afterwards */
  push(chunk: Uint8Array): Packet[] | undefined {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const packets: Packet[] = [];
    // Joins chunks once per packet: a sender of single bytes costs no more than its bytes.
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

/** The stream to a peer, whatever carries it. */
export type PeerStream = {
  /** False: the peer is too slow; `drained` is called when it has caught up. */
  send(bytes: Uint8Array): boolean;
  /** Ends the connection. */
  close(): void;
};

export type PeerOptions = {
  /** Bytes per second, averaged over ten seconds. */
  readonly bytesPerSecondMax: number;
};

type PeerModules = {
  readonly whisper: Pick<Whisper, "receive" | "pool">;
  readonly nowMs: () => number;
  /** Called when the peer is dropped for its behaviour. */
  readonly onOffence: (reason: Offence) => void;
};

/** Why a peer is dropped; the label of the counter. */
export type Offence = "packet" | "envelope" | "flood" | "slow" | "version" | "silent";

/** Size of a packet of envelopes: a reader gets its first envelope before the last is sent. */
const PACKET_ENVELOPES_BYTES = 256 << 10;
/** Period over which the rate is measured. */
const RATE_WINDOW_S = 10;
/** A peer that reads nothing for this long is gone. */
const DRAIN_MS_MAX = 30_000;
/** Interval of empty packets that show that this node is alive. */
const KEEPALIVE_MS = 30_000;
const SILENCE_MS_MAX = 100_000;
/** Hashes of expired envelopes to collect before they are removed. */
const STALE_HASHES_MAX = 1024;

/** One peer: the envelopes it knows, its send queue, and its behavior. */
export class Peer {
  readonly #stream: PeerStream;
  readonly #options: PeerOptions;
  readonly #modules: PeerModules;
  readonly #reader = new PacketReader();
  /** Pooled envelopes that the peer has or was sent. */
  #known = new Set<Hash>();
  /** Hashes of envelopes to send. */
  #waiting: Hash[] = [];
  #isBlocked = false;
  #blockedSinceMs = 0;
  #sentMs: number;
  #receivedMs: number;
  #hasStatus = false;
  #isClosed = false;
  /** Bytes that it may still send; refilled over time. */
  #allowance: number;
  #allowanceMs: number;

  constructor(stream: PeerStream, options: PeerOptions, modules: PeerModules) {
    this.#stream = stream;
    this.#options = options;
    this.#modules = modules;
    const now = modules.nowMs();
    this.#sentMs = now;
    this.#receivedMs = now;
    this.#allowanceMs = now;
    this.#allowance = options.bytesPerSecondMax * RATE_WINDOW_S;
    this.#send(PACKET.status, Uint8Array.of(PROTOCOL_VERSION));
    for (const envelope of modules.whisper.pool.all()) this.offer(envelope);
  }

  /** Queues an envelope that is new to this node. */
  offer({ hash }: SealedEnvelope): void {
    if (this.#isClosed || this.#known.has(hash)) return;
    this.#known.add(hash);
    this.#waiting.push(hash);
  }

  /** Sends waiting envelopes until the peer is too slow. */
  flush(): void {
    let next = 0;
    while (next < this.#waiting.length && !this.#isBlocked && !this.#isClosed) {
      const batch: Uint8Array[] = [];
      let bytes = 0;
      while (next < this.#waiting.length && bytes < PACKET_ENVELOPES_BYTES) {
        // It may have expired meanwhile.
        const envelope = this.#modules.whisper.pool.get(this.#waiting[next++]!);
        if (envelope === undefined) continue;
        batch.push(envelope.rlp);
        bytes += envelope.rlp.length;
      }
      if (batch.length > 0) this.#send(PACKET.messages, encodeRlpListOf(batch));
    }
    if (next > 0) this.#waiting = this.#waiting.slice(next);
  }

  /** The peer has read everything sent to it. */
  drained(): void {
    this.#isBlocked = false;
    this.flush();
  }

  received(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    this.#receivedMs = this.#modules.nowMs();
    if (!this.#isWithinRate(chunk.length)) {
      this.#offend("flood");
      return;
    }
    const packets = this.#reader.push(chunk);
    if (packets === undefined) {
      this.#offend("packet");
      return;
    }
    for (const { code, payload } of packets) {
      if (this.#isClosed) return;
      if (code === PACKET.status) this.#readStatus(payload);
      else if (code === PACKET.messages && this.#hasStatus) this.#readMessages(payload);
      else this.#offend("packet");
    }
  }

  /** Call it about every second. */
  check(): void {
    if (this.#isClosed) return;
    const now = this.#modules.nowMs();
    if (this.#isBlocked && now - this.#blockedSinceMs > DRAIN_MS_MAX) this.#offend("slow");
    else if (now - this.#receivedMs > SILENCE_MS_MAX) this.#offend("silent");
    else if (!this.#isBlocked && now - this.#sentMs > KEEPALIVE_MS) {
      this.#send(PACKET.messages, encodeRlpListOf([]));
    }
    const { pool } = this.#modules.whisper;
    if (this.#known.size > 2 * pool.size + STALE_HASHES_MAX) {
      this.#known = new Set([...this.#known].filter((hash) => pool.has(hash)));
    }
  }

  /** The stream has ended. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #readStatus(payload: Uint8Array): void {
    this.#hasStatus = true;
    if (payload.length !== 1 || payload[0] !== PROTOCOL_VERSION) this.#offend("version");
  }

  #readMessages(payload: Uint8Array): void {
    try {
      const { start, end } = rlpListBounds(payload, 0);
      if (end !== payload.length) throw new InvalidEnvelopeError("bytes after the envelopes");
      for (let at = start; at < end; ) {
        const next = rlpItemEnd(payload, at);
        // A copy: otherwise any of its envelopes would keep the whole packet in memory.
        const envelope = decodeEnvelope(payload.slice(at, next));
        this.#known.add(envelope.hash);
        this.#modules.whisper.receive(envelope);
        at = next;
      }
    } catch (error) {
      if (!(error instanceof InvalidEnvelopeError || error instanceof InvalidRlpError)) throw error;
      this.#offend("envelope");
    }
  }

  #send(code: number, payload: Uint8Array): void {
    const now = this.#modules.nowMs();
    this.#sentMs = now;
    if (this.#stream.send(encodePacket({ code, payload }))) return;
    this.#isBlocked = true;
    this.#blockedSinceMs = now;
  }

  #isWithinRate(bytes: number): boolean {
    const { bytesPerSecondMax } = this.#options;
    const now = this.#modules.nowMs();
    const refill = ((now - this.#allowanceMs) / 1000) * bytesPerSecondMax;
    this.#allowanceMs = now;
    this.#allowance = Math.min(this.#allowance + refill, bytesPerSecondMax * RATE_WINDOW_S) - bytes;
    return this.#allowance >= 0;
  }

  #offend(reason: Offence): void {
    if (this.#isClosed) return;
    this.closed();
    this.#modules.onOffence(reason);
    this.#stream.close();
  }
}
