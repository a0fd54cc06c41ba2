import assert from "node:assert/strict";
import * as nodeCrypto from "node:crypto";
import nodePath from "node:path";
import { test } from "node:test";
import { crc32 as nodeCrc32 } from "node:zlib";
import { Buffer as BrowserBuffer } from "../../src/package/browser/platform/buffer.ts";
import * as crypto from "../../src/package/browser/platform/crypto.ts";
import * as path from "../../src/package/browser/platform/path.ts";
import { crc32 } from "../../src/package/browser/platform/zlib.ts";
import fc from "../support/fast-check.ts";

const bytes = fc.uint8Array({ maxLength: 200 });
const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("Buffer of the browser encodes and decodes text as Node's", () => {
  fc.assert(
    fc.property(bytes, (data) => {
      for (const encoding of ["hex", "latin1", "base64", "base64url"] as const) {
        const text = Buffer.from(data).toString(encoding);
        assert.equal(BrowserBuffer.from(data).toString(encoding), text);
        assert.deepEqual([...BrowserBuffer.from(text, encoding)], [...data]);
      }
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.deepEqual([...BrowserBuffer.from(text)], [...Buffer.from(text)]);
      assert.equal(BrowserBuffer.from(text).toString(), Buffer.from(text).toString());
    }),
  );
  // Node.js takes a character beyond Latin-1 for the digit that its low byte is: all texts are checked before a Buffer reads them.
  const latin1 = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(latin1, bytes, (text, data) => {
      const digits = Buffer.from(data).toString("hex");
      // Up to the first character that is no digit.
      for (const each of [text, digits + text]) {
        assert.deepEqual([...BrowserBuffer.from(each, "hex")], [...Buffer.from(each, "hex")]);
      }
    }),
  );
});

test("Buffer of the browser reads, writes and finds as Node's", () => {
  fc.assert(
    fc.property(fixed(24), fc.bigInt(0n, 2n ** 64n - 1n), fc.nat(16), (data, value, at) => {
      const [ours, theirs] = [BrowserBuffer.from(data), Buffer.from(data)];
      for (const buffer of [ours, theirs]) {
        buffer.writeBigUInt64LE(value, at);
        buffer.writeUInt32BE(Number(value % 2n ** 32n), (at + 9) % 20);
        buffer.writeUIntBE(Number(value % 2n ** 40n), (at + 3) % 19, 5);
      }
      assert.deepEqual([...ours], [...theirs]);
      assert.equal(ours.readBigUInt64BE(at), theirs.readBigUInt64BE(at));
      assert.equal(ours.readUIntBE(at, 6), theirs.readUIntBE(at, 6));
      assert.equal(ours.readUInt16LE(at), theirs.readUInt16LE(at));
      const part = data.subarray(at, at + 3);
      assert.equal(ours.indexOf(part), theirs.indexOf(part));
      assert.equal(ours.compare(data, 0, at, 1, 9), theirs.compare(data, 0, at, 1, 9));
    }),
  );
});

test("crc32 of the browser is Node's, begun with any sum", () => {
  fc.assert(
    fc.property(bytes, fc.nat(0xffffffff), (data, seed) => {
      assert.equal(crc32(data, seed), data.length === 0 ? seed : nodeCrc32(data, seed));
    }),
  );
});

test("ciphers of the browser read what Node's write, and the other way round", () => {
  for (const [name, keyLength, ivLength] of [
    ["aes-128-ctr", 16, 16],
    ["aes-256-gcm", 32, 12],
  ] as const) {
    fc.assert(
      fc.property(bytes, fixed(keyLength), fixed(ivLength), (plain, key, iv) => {
        const ours = crypto.createCipheriv(name, key, iv);
        const theirs = nodeCrypto.createCipheriv(name, key, iv) as nodeCrypto.CipherGCM;
        const ciphertext = theirs.update(plain);
        assert.deepEqual([...ours.update(plain)], [...ciphertext]);
        theirs.final();
        const decipher = crypto.createDecipheriv(name, key, iv);
        if (name === "aes-256-gcm") {
          assert.deepEqual([...ours.getAuthTag()], [...theirs.getAuthTag()]);
          decipher.setAuthTag(theirs.getAuthTag());
        }
        assert.deepEqual([...decipher.update(ciphertext)], [...plain]);
        decipher.final();
      }),
      { numRuns: 30 },
    );
  }
});

test("a cipher of the browser rejects a tag that is not of the ciphertext, and padding that is none", () => {
  const [key, iv] = [new Uint8Array(32), new Uint8Array(12)];
  const decipher = crypto.createDecipheriv("aes-256-gcm", key, iv).setAuthTag(new Uint8Array(16));
  decipher.update(new Uint8Array(5));
  assert.throws(() => decipher.final());
  fc.assert(
    fc.property(fixed(16), fixed(16), bytes, (short, start, plain) => {
      const theirs = nodeCrypto.createCipheriv("aes-128-cbc", short, start);
      const ciphertext = Buffer.concat([theirs.update(plain), theirs.final()]);
      const ours = crypto.createDecipheriv("aes-128-cbc", short, start);
      const read = Buffer.concat([ours.update(ciphertext), ours.final()]);
      assert.deepEqual([...read], [...plain]);
      const damaged = crypto.createDecipheriv("aes-128-cbc", short, start);
      damaged.update(ciphertext.subarray(0, -1));
      assert.throws(() => damaged.final());
    }),
    { numRuns: 30 },
  );
});

test("key derivation, hashes and agreement of the browser are Node's", () => {
  fc.assert(
    fc.property(bytes, fixed(32), (data, key) => {
      for (const name of ["sha256", "sha512"] as const) {
        const ours = crypto.createHash(name).update(data).digest("hex");
        assert.equal(ours, nodeCrypto.createHash(name).update(data).digest("hex"));
        const mac = crypto.createHmac(name, key).update(data).digest("hex");
        assert.equal(mac, nodeCrypto.createHmac(name, key).update(data).digest("hex"));
      }
    }),
  );
  const [ours, theirs] = [crypto.createECDH("secp256k1"), nodeCrypto.createECDH("secp256k1")];
  const [ourKey, theirKey] = [ours.generateKeys(), theirs.generateKeys()];
  assert.deepEqual([...ours.computeSecret(theirKey)], [...theirs.computeSecret(ourKey)]);
});

test("paths of the browser are Node's POSIX paths", () => {
  const part = fc.constantFrom("a", "..", ".", "", "b.c", "/", "/x/y", "dir/file");
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), part, (parts, other) => {
      const joined = parts.join("/");
      assert.equal(path.join(...parts), trimmed(nodePath.posix.join(...parts)));
      assert.equal(path.resolve("/", ...parts), nodePath.posix.resolve("/", ...parts));
      const absolute = [`/${joined}`, `/${other}`] as const;
      assert.equal(path.relative(...absolute), nodePath.posix.relative(...absolute));
    }),
  );
});

/** Ours end without a slash. */
function trimmed(text: string): string {
  return text.length > 1 ? text.replace(/\/$/, "") : text;
}
