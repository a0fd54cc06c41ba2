import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { FrameReader } from "../../../src/consensus/cometbft/abci/frames.ts";
import {
  decodeMessage,
  encodeMessage,
  encodeVarint,
  message,
  single,
} from "../../../src/consensus/cometbft/abci/protobuf.ts";
import { Transcript } from "./merlin.ts";

/** Bytes of a frame that are payload, after four that give its length. */
const CHUNK_BYTES = 1_024;
const LENGTH_BYTES = 4;
const TAG_BYTES = 16;
const SEALED_BYTES = LENGTH_BYTES + CHUNK_BYTES + TAG_BYTES;
const KEYS_INFO = Buffer.from("TENDERMINT_SECRET_CONNECTION_KEY_AND_CHALLENGE_GEN");

const ephemeralKey = message({ value: single(1, "bytes") });
const authentication = message({
  publicKey: single(1, message({ ed25519: single(1, "bytes") })),
  signature: single(2, "bytes"),
});

/** A stream of protobuf messages, each after its length. */
export type MessageStream = {
  readonly send: (message: Uint8Array) => void;
};

/** Messages over a socket without encryption. @param onMessage called for each that comes */
export function plainMessages(socket: Socket, onMessage: (message: Uint8Array) => void): MessageStream {
  const frames = new FrameReader();
  socket.on("data", (bytes) => frames.push(bytes).forEach(onMessage));
  return { send: (message) => void socket.write(delimited(message)) };
}

/**
 * Messages over CometBFT's SecretConnection (p2p/conn/secret_connection.go): a station-to-station handshake with X25519 and ed25519, then frames of one
 * size under ChaCha20-Poly1305.
 * @param onReady called once the other end has proven its key
 */
export function secretMessages(
  socket: Socket,
  handlers: { readonly onReady: (peer: Uint8Array) => void; readonly onMessage: (message: Uint8Array) => void },
): MessageStream {
  const connection = new SecretConnection(socket, handlers);
  return { send: (message) => connection.send(message) };
}

class SecretConnection {
  readonly #socket: Socket;
  readonly #handlers: Parameters<typeof secretMessages>[1];
  readonly #ephemeral = x25519.keygen();
  readonly #frames = new FrameReader();
  #received: Buffer = Buffer.alloc(0);
  #sealing: { readonly send: Sealing; readonly receive: Sealing; readonly challenge: Uint8Array } | undefined;
  #isProven = false;

  constructor(socket: Socket, handlers: Parameters<typeof secretMessages>[1]) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on("data", (bytes) => this.#onData(bytes));
    socket.write(delimited(encodeMessage(ephemeralKey, { value: this.#ephemeral.publicKey })));
  }

  send(message: Uint8Array): void {
    const bytes = delimited(message);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES);
      const frame = Buffer.alloc(LENGTH_BYTES + CHUNK_BYTES);
      frame.writeUInt32LE(chunk.length);
      frame.set(chunk, LENGTH_BYTES);
      this.#socket.write(this.#sealing!.send.seal(frame));
    }
  }

  #onData(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    if (this.#sealing === undefined) this.#onEphemeralKey();
    while (this.#sealing !== undefined && this.#received.length >= SEALED_BYTES) {
      const frame = Buffer.from(this.#sealing.receive.open(this.#received.subarray(0, SEALED_BYTES)));
      this.#received = this.#received.subarray(SEALED_BYTES);
      const chunk = frame.subarray(LENGTH_BYTES, LENGTH_BYTES + frame.readUInt32LE());
      for (const each of this.#frames.push(chunk)) this.#onMessage(each);
    }
  }

  /** 34 bytes of a message after their length. */
  #onEphemeralKey(): void {
    const length = 35;
    if (this.#received.length < length) return;
    const { value: other } = decodeMessage(ephemeralKey, this.#received.subarray(1, length));
    this.#received = this.#received.subarray(length);
    const own = this.#ephemeral.publicKey;
    const isLower = Buffer.compare(own, other) < 0;
    const secret = x25519.getSharedSecret(this.#ephemeral.secretKey, other);
    const transcript = new Transcript("TENDERMINT_SECRET_CONNECTION_TRANSCRIPT_HASH");
    transcript.append("EPHEMERAL_LOWER_PUBLIC_KEY", isLower ? own : other);
    transcript.append("EPHEMERAL_UPPER_PUBLIC_KEY", isLower ? other : own);
    transcript.append("DH_SECRET", secret);
    const keys = hkdf(sha256, secret, undefined, KEYS_INFO, 96);
    const [first, second] = [keys.subarray(0, 32), keys.subarray(32, 64)];
    const challenge = transcript.challenge("SECRET_CONNECTION_MAC", 32);
    this.#sealing = {
      send: new Sealing(isLower ? second : first),
      receive: new Sealing(isLower ? first : second),
      challenge,
    };
    const privateKey = randomBytes(32);
    const publicKey = { ed25519: ed25519.getPublicKey(privateKey) };
    this.send(encodeMessage(authentication, { publicKey, signature: ed25519.sign(challenge, privateKey) }));
  }

  #onMessage(message: Uint8Array): void {
    if (this.#isProven) {
      this.#handlers.onMessage(message);
      return;
    }
    const { publicKey, signature } = decodeMessage(authentication, message);
    assert.ok(ed25519.verify(signature, this.#sealing!.challenge, publicKey.ed25519), "the other end proves its key");
    this.#isProven = true;
    this.#handlers.onReady(publicKey.ed25519);
  }
}

/** One direction: each frame has the next nonce. */
class Sealing {
  readonly #key: Uint8Array;
  #count = 0n;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(frame: Uint8Array): Uint8Array {
    return chacha20poly1305(this.#key, this.#nonce()).encrypt(frame);
  }

  open(sealed: Uint8Array): Uint8Array {
    return chacha20poly1305(this.#key, this.#nonce()).decrypt(sealed);
  }

  #nonce(): Uint8Array {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64LE(this.#count++, 4);
    return nonce;
  }
}

function delimited(message: Uint8Array): Uint8Array {
  return Buffer.concat([encodeVarint(message.length), message]);
}
