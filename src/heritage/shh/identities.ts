import { createECDH } from "node:crypto";
import { decryptAesGcm, encryptAesGcm } from "../../base/crypto/aes-gcm.ts";
import { sha256 } from "../../base/crypto/hashes.ts";
import { isPrivateKey, publicKeyFromPrivate } from "../../base/crypto/secp256k1.ts";
import { concatBytes, leftPad } from "../../base/primitives/bytes.ts";
import { IdentityFileError, WhisperLimitError } from "./errors.ts";
import { type Identity, identityFromBytes, type Key } from "./message.ts";

/** Storage of identities; absent if they are not stored. */
export type IdentityFile = {
  /** undefined if the file does not exist yet */
  read(): Uint8Array | undefined;
  /** Durable when it returns. */
  replace(content: Uint8Array): void;
};

type IdentitiesOptions = {
  /** Identities and groups of this node; each is tried on every encrypted message. */
  readonly identitiesMax: number;
  /** 32 bytes: encrypts the file. */
  readonly secret: Uint8Array;
};

/**
 * The file: nonce 12 ‖ AES-256-GCM(entries) ‖ tag 16, the key from the node's own key. An entry is kind 1 ‖ private key 32.
 */
const ENTRY_LENGTH = 33;
const KIND = { identity: 0, createdGroup: 1, joinedGroup: 2 } as const;
type IdentityKind = keyof typeof KIND;
const KINDS = Object.keys(KIND) as IdentityKind[];

type Entry = Key & { readonly kind: IdentityKind };

/** The key pairs of this node: identities of programs, and groups. */
export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #file: IdentityFile | undefined;
  readonly #entries = new Map<Identity, Entry>();

  /** @throws IdentityFileError */
  constructor(options: IdentitiesOptions, file: IdentityFile | undefined) {
    this.#options = options;
    this.#file = file;
    const content = file?.read();
    if (content === undefined) return;
    for (const entry of decodeEntries(decrypt(content, options.secret))) {
      this.#entries.set(entry.identity, entry);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(identity: Identity): Key | undefined {
    return this.#entries.get(identity);
  }

  keys(): Iterable<Key> {
    return this.#entries.values();
  }

  /** @throws WhisperLimitError, and errors of the file; the identity is then not added */
  create(kind: IdentityKind): Key {
    const ecdh = createECDH("secp256k1");
    const identity = identityFromBytes(ecdh.generateKeys());
    // OpenSSL leaves out leading zeros.
    return this.#store({ identity, privateKey: leftPad(ecdh.getPrivateKey(), 32), kind });
  }

  /** Adds the key of a group this node was invited to. @throws as `create` */
  join(privateKey: Uint8Array): Key {
    const identity = identityFromBytes(publicKeyOf(privateKey));
    return this.#entries.get(identity) ?? this.#store({ identity, privateKey, kind: "joinedGroup" });
  }

  /** The group that this node created last. */
  newestGroup(): Key | undefined {
    return [...this.#entries.values()].findLast(({ kind }) => kind === "createdGroup");
  }

  #store(entry: Entry): Key {
    const { identitiesMax, secret } = this.#options;
    if (this.#entries.size >= identitiesMax) {
      throw new WhisperLimitError(`this node has ${identitiesMax} identities already`);
    }
    const entries = [...this.#entries.values(), entry];
    this.#file?.replace(encryptAesGcm(encodeEntries(entries), fileKey(secret)));
    this.#entries.set(entry.identity, entry);
    return entry;
  }
}

/** 65 bytes */
function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(4), publicKeyFromPrivate(privateKey));
}

function encodeEntries(entries: readonly Entry[]): Uint8Array {
  return concatBytes(...entries.flatMap(({ kind, privateKey }) => [Uint8Array.of(KIND[kind]), privateKey]));
}

function decodeEntries(bytes: Uint8Array): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length; at += ENTRY_LENGTH) {
    const kind = KINDS[bytes[at]!];
    const privateKey = bytes.slice(at + 1, at + ENTRY_LENGTH);
    if (kind === undefined || !isPrivateKey(privateKey)) {
      throw new IdentityFileError("the file of whisper identities holds no keys");
    }
    entries.push({ identity: identityFromBytes(publicKeyOf(privateKey)), privateKey, kind });
  }
  return entries;
}

function fileKey(secret: Uint8Array): Uint8Array {
  return sha256(concatBytes(Buffer.from("evmint whisper identities"), secret));
}

/** @throws IdentityFileError */
function decrypt(content: Uint8Array, secret: Uint8Array): Uint8Array {
  const plaintext = decryptAesGcm(content, fileKey(secret));
  if (plaintext !== undefined) return plaintext;
  throw new IdentityFileError("the file of whisper identities is damaged, or of another node key");
}
