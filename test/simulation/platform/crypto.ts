/** `node:crypto`: hashes and curves are the real ones, chance is the process's own. */
import * as real from "node:crypto";
import { currentSimulation } from "../kernel/current.ts";
import { Random } from "../kernel/random.ts";

export {
  constants,
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  ECDH,
  getHashes,
  hash,
  KeyObject,
  pbkdf2Sync,
  scryptSync,
  sign,
  timingSafeEqual,
  verify,
  X509Certificate,
} from "node:crypto";

/** Private keys by encoding, with the public keys computed so far: OpenSSL takes half a millisecond for each, and nodes read theirs at each start. */
const privateKeys = new Map<string, real.KeyObject>();
const publicKeys = new WeakMap<object, real.KeyObject>();
const KEYS_MAX = 4_096;

/** As `node:crypto`; of one encoding it is one object, which nothing can change. */
export function createPrivateKey(input: real.PrivateKeyInput): real.KeyObject {
  const text = `${input.type} ${Buffer.from(input.key).toString("latin1")}`;
  const known = privateKeys.get(text);
  if (known !== undefined) return known;
  const key = real.createPrivateKey(input);
  if (privateKeys.size === KEYS_MAX) privateKeys.clear();
  privateKeys.set(text, key);
  return key;
}

/** As `node:crypto`, of a private key. */
export function createPublicKey(privateKey: real.KeyObject): real.KeyObject {
  const known = publicKeys.get(privateKey);
  if (known !== undefined) return known;
  const key = real.createPublicKey(privateKey);
  publicKeys.set(privateKey, key);
  return key;
}

/** Of modules that draw while they are loaded: the same for every run. */
const atLoad = new Random("modules");

const random = () => currentSimulation()?.current?.random ?? atLoad;

export function randomBytes(length: number): Buffer {
  return Buffer.from(random().bytes(length).buffer);
}

export function randomFillSync<T extends Uint8Array>(bytes: T): T {
  random().fill(bytes);
  return bytes;
}

export const getRandomValues = randomFillSync;

export function randomInt(first: number, end?: number): number {
  return end === undefined ? random().below(first) : first + random().below(end - first);
}

export function randomUUID(): string {
  const hex = randomBytes(16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

type Callback = (error: Error | null, key?: Buffer) => void;

export function scrypt(
  password: string,
  salt: Uint8Array,
  length: number,
  options: real.ScryptOptions,
  done: Callback,
): void {
  const key = real.scryptSync(password, salt, length, options);
  queueMicrotask(() => done(null, key));
}

export function pbkdf2(
  password: string,
  salt: Uint8Array,
  rounds: number,
  length: number,
  digest: string,
  done: Callback,
) {
  const key = real.pbkdf2Sync(password, salt, rounds, length, digest);
  queueMicrotask(() => done(null, key));
}
