/** AES (FIPS 197) of one block, and the modes that key files, wallets and Whisper use. Web Crypto has them only as promises. */

const BLOCK = 16;

const { box, inverse } = makeBoxes();

/** Substitution of a byte: its inverse in GF(2^8), then an affine map. */
function makeBoxes() {
  const box = new Uint8Array(256);
  const inverse = new Uint8Array(256);
  // p runs through the powers of 3, q through those of its inverse.
  let p = 1;
  let q = 1;
  do {
    p ^= double(p);
    q ^= q << 1;
    q ^= q << 2;
    q ^= q << 4;
    q &= 255;
    if (q & 128) q ^= 9;
    box[p] = q ^ rotate(q, 1) ^ rotate(q, 2) ^ rotate(q, 3) ^ rotate(q, 4) ^ 0x63;
  } while (p !== 1);
  box[0] = 0x63;
  for (let byte = 0; byte < 256; byte++) inverse[box[byte]!] = byte;
  return { box, inverse };
}

function rotate(byte: number, by: number): number {
  return ((byte << by) | (byte >> (8 - by))) & 255;
}

/** Times x in GF(2^8). */
function double(byte: number): number {
  return ((byte << 1) ^ (byte & 128 ? 0x11b : 0)) & 255;
}

function multiply(a: number, b: number): number {
  let product = 0;
  for (let factor = a, rest = b; rest > 0; rest >>= 1, factor = double(factor)) {
    if (rest & 1) product ^= factor;
  }
  return product;
}

/** Round keys in a row. @param key 16 or 32 bytes */
export function expandKey(key: Uint8Array): Uint8Array {
  const expanded = new Uint8Array(BLOCK * (key.length / 4 + 7));
  expanded.set(key);
  let constant = 1;
  for (let at = key.length; at < expanded.length; at += 4) {
    let word = expanded.slice(at - 4, at);
    const place = at % key.length;
    if (place === 0) {
      word = Uint8Array.of(word[1]!, word[2]!, word[3]!, word[0]!).map((byte) => box[byte]!);
      word[0]! ^= constant;
      constant = double(constant);
    } else if (key.length === 32 && place === BLOCK) word = word.map((byte) => box[byte]!);
    for (let i = 0; i < 4; i++) expanded[at + i] = expanded[at + i - key.length]! ^ word[i]!;
  }
  return expanded;
}

export function encryptBlock(keys: Uint8Array, input: Uint8Array): Uint8Array {
  let state = xor(input, keys);
  for (let at = BLOCK; at < keys.length; at += BLOCK) {
    const isLast = at + BLOCK === keys.length;
    const shifted = state.map((_, i) => box[state[(i + 4 * (i % 4)) % BLOCK]!]!);
    state = xor(isLast ? shifted : mixColumns(shifted, [2, 3, 1, 1]), keys.subarray(at));
  }
  return state;
}

export function decryptBlock(keys: Uint8Array, input: Uint8Array): Uint8Array {
  let state = input;
  for (let at = keys.length - BLOCK; at > 0; at -= BLOCK) {
    const added = xor(state, keys.subarray(at));
    const isFirst = at + BLOCK === keys.length;
    const mixed = isFirst ? added : mixColumns(added, [14, 11, 13, 9]);
    state = mixed.map((_, i) => inverse[mixed[(i + 12 * (i % 4)) % BLOCK]!]!);
  }
  return xor(state, keys);
}

function mixColumns(state: Uint8Array, factors: readonly number[]): Uint8Array {
  return state.map((_, i) => {
    const column = i & ~3;
    let sum = 0;
    for (let row = 0; row < 4; row++)
      sum ^= multiply(state[column + row]!, factors[(row - i) & 3]!);
    return sum;
  });
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Uint8Array.from(a, (byte, i) => byte ^ b[i]!);
}

/** Counter mode, both ways. @param counter of the first block, its last `counterBytes` count */
export function counterMode(
  keys: Uint8Array,
  counter: Uint8Array,
  data: Uint8Array,
  counterBytes: number,
): Uint8Array {
  const output = Uint8Array.from(data);
  const block = Uint8Array.from(counter);
  for (let at = 0; at < data.length; at += BLOCK) {
    const stream = encryptBlock(keys, block);
    for (let i = at; i < Math.min(at + BLOCK, data.length); i++) output[i]! ^= stream[i - at]!;
    for (let i = BLOCK - 1; i >= BLOCK - counterBytes; i--) {
      block[i]!++;
      if (block[i] !== 0) break;
    }
  }
  return output;
}

/** Cipher block chaining with the padding of PKCS #7; undefined when the padding is invalid. */
export function decryptChained(
  keys: Uint8Array,
  iv: Uint8Array,
  data: Uint8Array,
): Uint8Array | undefined {
  const plain = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += BLOCK) {
    const before = at === 0 ? iv : data.subarray(at - BLOCK, at);
    plain.set(xor(decryptBlock(keys, data.subarray(at, at + BLOCK)), before), at);
  }
  const padding = plain.at(-1) ?? 0;
  const isValid = padding > 0 && padding <= BLOCK && data.length % BLOCK === 0;
  const end = plain.length - padding;
  return isValid && plain.subarray(end).every((byte) => byte === padding)
    ? plain.subarray(0, end)
    : undefined;
}

/** The tag of Galois/counter mode (NIST SP 800-38D) over `ciphertext`, without additional data. @param nonce 12 bytes */
export function galoisTag(keys: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const subkey = integerOf(encryptBlock(keys, new Uint8Array(BLOCK)));
  let sum = 0n;
  for (let at = 0; at < ciphertext.length; at += BLOCK) {
    const block = new Uint8Array(BLOCK);
    block.set(ciphertext.subarray(at, at + BLOCK));
    sum = multiplyGalois(sum ^ integerOf(block), subkey);
  }
  sum = multiplyGalois(sum ^ BigInt(ciphertext.length * 8), subkey);
  const first = encryptBlock(keys, firstCounter(nonce));
  const digits = sum.toString(16).padStart(2 * BLOCK, "0");
  return first.map((byte, i) => byte ^ Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

export function firstCounter(nonce: Uint8Array, number = 1): Uint8Array {
  const counter = new Uint8Array(BLOCK);
  counter.set(nonce);
  counter[BLOCK - 1] = number;
  return counter;
}

/** In GF(2^128), lowest power first. */
function multiplyGalois(a: bigint, b: bigint): bigint {
  const reduction = 0xe1n << 120n;
  let product = 0n;
  let factor = b;
  for (let bit = 127n; bit >= 0n; bit--) {
    if ((a >> bit) & 1n) product ^= factor;
    factor = (factor >> 1n) ^ (factor & 1n ? reduction : 0n);
  }
  return product;
}

function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
