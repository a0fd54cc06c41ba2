import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { PrivateKey, PublicKey } from "eciesjs";
import fc from "../../../test/support/fast-check.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { encodeRlp } from "../../base/primitives/rlp.ts";
import { assertTimely, decodeEnvelope, type Envelope, sealEnvelope, wireTopic, workSeed } from "./envelope.ts";
import { EnvelopePool } from "./envelope-pool.ts";
import { Identities, type IdentityFile } from "./identities.ts";
import { decryptEcies, encryptEcies, type Identity, looksEncrypted, openMessage, wrapMessage } from "./message.ts";
import { findWork, leadingZeroBits, workProved } from "./proof-of-work.ts";
import { type Post, Whisper } from "./whisper.ts";

const text = (value: string) => Buffer.from(value);
const SECRET = new Uint8Array(32).fill(7);

function memoryFile() {
  let content: Uint8Array | undefined;
  const file: IdentityFile = {
    read: () => content,
    replace(next) {
      content = next;
    },
  };
  return { file, content: () => content };
}

/** Whisper on one node with clocks that are set by hand. */
function openWhisper({ poolBytesMax = 1 << 24, filtersMax = 10, file = memoryFile().file } = {}) {
  const clock = { seconds: 1_000_000, ms: 0 };
  let ids = 0;
  const failures: unknown[] = [];
  const identities = new Identities({ identitiesMax: 20, secret: SECRET }, file);
  const whisper = new Whisper(
    { poolBytesMax, filtersMax, filterIdleMs: 300_000 },
    {
      identities,
      nowSeconds: () => clock.seconds,
      nowMs: () => clock.ms,
      newFilterId: () => `0x${(++ids).toString(16)}`,
      findWork: async (seed, milliseconds) => {
        let looks = 0;
        return findWork(seed, milliseconds, () => looks++);
      },
      onFailure: (error) => failures.push(error),
    },
  );
  return { whisper, clock, identities, failures };
}

const ANYTHING = { to: undefined, from: undefined, topics: [] };
const POST: Post = {
  from: undefined,
  to: undefined,
  topics: [text("hello world")],
  payload: hexToBytes("0x6869"),
  priority: 0,
  ttl: 100,
};

describe("vectors", () => {
  test("a topic of the wire is the start of a hash", () => {
    assert.equal(bytesToHex(wireTopic(text("hello world"))), "0x47173285");
    assert.equal(bytesToHex(wireTopic(hexToBytes("0x776869737065722d636861742d636c69656e74"))), "0xe1e25800");
  });

  test("an envelope is five RLP fields, its hash theirs, its work over the first four", () => {
    const fields: Omit<Envelope, "nonce"> = {
      expiry: 0x54caa50a,
      ttl: 0x64,
      topics: [wireTopic(text("hello world"))],
      data: hexToBytes("0x016869"),
    };
    const first = encodeRlp([hexToBytes("0x54caa50a"), hexToBytes("0x64"), fields.topics, fields.data]);
    assert.deepEqual(workSeed(fields), keccak256(first));
    const envelope = sealEnvelope({ ...fields, nonce: 258n });
    assert.equal(envelope.hash, bytesToHex(keccak256(envelope.rlp)));
    const nonce = new Uint8Array(32);
    nonce.set([1, 2], 30);
    assert.equal(envelope.workProved, leadingZeroBits(keccak256(concatBytes(keccak256(first), nonce))));
    assert.deepEqual(decodeEnvelope(envelope.rlp), envelope);
  });

  test("leadingZeroBits", () => {
    for (const [hex, bits] of [
      ["0x80", 0],
      ["0x01", 7],
      ["0x0040", 9],
      ["0x0000", 16],
    ] as const) {
      assert.equal(leadingZeroBits(hexToBytes(hex)), bits);
    }
  });
});

/** The same scheme over the points of eciesjs. */
const peer = {
  encrypt(publicKey: Uint8Array, plaintext: Uint8Array): Uint8Array {
    const ephemeral = new PrivateKey();
    const iv = randomBytes(16);
    const { key, macKey } = peer.keys(ephemeral, publicKey);
    const cipher = createCipheriv("aes-128-ctr", key, iv);
    const body = Buffer.concat([iv, cipher.update(plaintext), cipher.final()]);
    const tag = createHmac("sha256", macKey).update(body).digest();
    return Buffer.concat([ephemeral.publicKey.toBytes(false), body, tag]);
  },
  decrypt(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
    const { key } = peer.keys(new PrivateKey(privateKey), message.subarray(0, 65));
    const decipher = createDecipheriv("aes-128-ctr", key, message.subarray(65, 81));
    return Buffer.concat([decipher.update(message.subarray(81, -32)), decipher.final()]);
  },
  keys(privateKey: PrivateKey, publicKey: Uint8Array) {
    const point = privateKey.multiply(new PublicKey(publicKey), false);
    const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
    const derived = sha256(Buffer.concat([Buffer.from([0, 0, 0, 1]), point.subarray(1, 33)]));
    return { key: derived.subarray(0, 16), macKey: sha256(derived.subarray(16)) };
  },
};

describe("ECIES", () => {
  test("what one implementation encrypts the other decrypts, both ways", () => {
    const message = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(message, (plaintext) => {
        const key = new PrivateKey();
        const publicKey = key.publicKey.toBytes(false);
        const ours = encryptEcies(publicKey, plaintext);
        assert.equal(ours.length, plaintext.length + 113);
        assert.deepEqual(new Uint8Array(peer.decrypt(key.secret, ours)), plaintext);
        assert.deepEqual(decryptEcies(key.secret, peer.encrypt(publicKey, plaintext)), plaintext);
      }),
      { numRuns: 30 },
    );
  });

  test("another key, a changed byte anywhere and a short text are not decrypted", () => {
    const key = new PrivateKey();
    const encrypted = encryptEcies(key.publicKey.toBytes(false), text("secret"));
    assert.throws(() => decryptEcies(new PrivateKey().secret, encrypted), {
      code: "SHH_DECRYPTION",
    });
    for (const at of [0, 1, 40, 64, 65, 80, 82, encrypted.length - 1]) {
      const damaged = encrypted.slice();
      damaged[at]! ^= 1;
      assert.throws(() => decryptEcies(key.secret, damaged), { code: "SHH_DECRYPTION" });
    }
    for (let length = 0; length < encrypted.length; length++) {
      assert.throws(() => decryptEcies(key.secret, encrypted.subarray(0, length)), {
        code: "SHH_DECRYPTION",
      });
    }
    assert.equal(looksEncrypted(Buffer.alloc(200, 4)), false);
  });
});

describe("messages", () => {
  const { identities } = openWhisper();
  const alice = identities.create("identity");
  const bob = identities.create("identity");

  test("a signature names its signer and survives encryption; a changed one opens as nothing or another's", () => {
    for (const to of [undefined, hexToBytes(bob.identity)]) {
      const data = wrapMessage({ payload: text("hi"), from: alice, to });
      assert.equal(data[0]! & 0x80, 0x80);
      const opened = openMessage(data, identities.keys());
      assert.deepEqual(Buffer.from(opened!.payload), text("hi"));
      assert.equal(opened?.from, alice.identity);
      assert.equal(opened?.to, to && bob.identity);
      data[3]! ^= 1;
      assert.notEqual(openMessage(data, identities.keys())?.from, alice.identity);
    }
  });

  test("nobody else opens an encrypted message", () => {
    const data = wrapMessage({ payload: text("hi"), from: alice, to: hexToBytes(bob.identity) });
    assert.equal(openMessage(data, [alice]), undefined);
    assert.equal(openMessage(data, []), undefined);
  });

  test("data that is too short for its signature, or has v of 2, is no message", () => {
    assert.equal(openMessage(Uint8Array.of(0x80, 1, 2), []), undefined);
    const data = wrapMessage({ payload: text("hi"), from: alice, to: undefined });
    data[65] = 2;
    assert.equal(openMessage(data, []), undefined);
  });
});

describe("proof of work", () => {
  test("more time never finds less work, and what is found is proven", () => {
    const seed = keccak256(text("seed"));
    let before = -1;
    for (const looks of [0, 1, 10, 100]) {
      let now = 0;
      const { nonce, bits } = findWork(seed, looks, () => now++);
      assert.equal(workProved(seed, nonce), bits);
      assert.ok(bits >= before);
      before = bits;
    }
    assert.ok(before >= 8);
  });
});

describe("decodeEnvelope", () => {
  const fields = [hexToBytes("0x54caa50a"), hexToBytes("0x64"), [text("abcd")], text("x"), text("")];
  const damaged: readonly (readonly [string, Parameters<typeof encodeRlp>[0]])[] = [
    ["a string", text("hello")],
    ["four fields", fields.slice(0, 4)],
    ["six fields", [...fields, text("x")]],
    ["a topic of three bytes", [fields[0]!, fields[1]!, [text("abc")], fields[3]!, fields[4]!]],
    ["a list as topic", [fields[0]!, fields[1]!, [[]], fields[3]!, fields[4]!]],
    ["65 topics", [fields[0]!, fields[1]!, Array(65).fill(text("abcd")), fields[3]!, fields[4]!]],
    ["no data", [fields[0]!, fields[1]!, [], text(""), fields[4]!]],
    ["a list as data", [fields[0]!, fields[1]!, [], [], fields[4]!]],
    ["too much data", [fields[0]!, fields[1]!, [], Buffer.alloc(67_000), fields[4]!]],
    ["an expiry of five bytes", [Buffer.alloc(5, 1), fields[1]!, [], fields[3]!, fields[4]!]],
    ["an expiry with leading zeros", [hexToBytes("0x0001"), fields[1]!, [], fields[3]!, fields[4]!]],
    ["a nonce of 33 bytes", [fields[0]!, fields[1]!, [], fields[3]!, Buffer.alloc(33, 1)]],
  ];
  for (const [name, item] of damaged) {
    test(`${name} is rejected`, () => {
      assert.throws(() => decodeEnvelope(encodeRlp(item)), { code: "SHH_INVALID_ENVELOPE" });
    });
  }

  test("no bytes make it fail otherwise than by rejecting", () => {
    const good = encodeRlp(fields);
    const mutated = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const bytes = good.slice();
        for (const [at, value] of changes) bytes[at] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 100 })), (bytes) => {
        try {
          decodeEnvelope(bytes);
        } catch (error) {
          assert.equal((error as { code?: string }).code, "SHH_INVALID_ENVELOPE");
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("times are bounded", () => {
    const at = (expiry: number, ttl: number): Envelope => ({
      expiry,
      ttl,
      topics: [],
      data: text("x"),
      nonce: 0n,
    });
    assertTimely(at(1_100, 100), 1_000);
    assertTimely(at(1_120, 100), 1_000);
    assertTimely(at(900, 100), 1_000);
    for (const [expiry, ttl] of [
      [1_121, 100],
      [1_000, 0],
      [604_801, 604_801],
    ] as const) {
      assert.throws(() => assertTimely(at(expiry, ttl), 1_000), { code: "SHH_INVALID_ENVELOPE" });
    }
  });
});

describe("EnvelopePool", () => {
  const envelope = (index: number, ttl = 100, nonce = 0n) =>
    sealEnvelope({ expiry: 1_000 + ttl, ttl, topics: [], data: Buffer.alloc(400, index), nonce });

  test("when it is full those with the least work for their time and size leave", () => {
    const pool = new EnvelopePool(20 * 1_020);
    const cheap = Array.from({ length: 30 }, (_, i) => envelope(i, 10_000));
    for (const each of cheap) pool.add(each, 1_000);
    assert.ok(pool.bytes <= 20 * 1_020);
    // Short-lived ones take less of the pool, so the same work counts for more.
    const dear = Array.from({ length: 10 }, (_, i) => {
      const fields = { expiry: 1_010, ttl: 10, topics: [], data: Buffer.alloc(400, 100 + i) };
      let looks = 0;
      const { nonce } = findWork(workSeed(fields), 5, () => looks++);
      return sealEnvelope({ ...fields, nonce });
    });
    for (const each of dear) assert.equal(pool.add(each, 1_000), "added");
    for (const each of dear) assert.ok(pool.has(each.hash));
    assert.ok(pool.bytes <= 20 * 1_020);
    const worthless = sealEnvelope({ ...envelope(99), expiry: 605_000, ttl: 604_000 });
    if (worthless.workProved === 0) assert.equal(pool.add(worthless, 1_000), "tooLittleWork");
  });

  test("expired envelopes leave, and are not taken", () => {
    const pool = new EnvelopePool(1 << 20);
    assert.equal(pool.add(envelope(1, 10), 1_000), "added");
    assert.equal(pool.add(envelope(1, 10), 1_000), "known");
    assert.equal(pool.add(envelope(2, 20), 1_000), "added");
    assert.equal(pool.sweep(1_009), 0);
    assert.equal(pool.sweep(1_010), 1);
    assert.equal(pool.size, 1);
    assert.equal(pool.sweep(5_000), 1);
    assert.equal(pool.bytes, 0);
    assert.equal(pool.add(envelope(1, 10), 1_010), "expired");
  });
});

describe("Whisper", () => {
  test("a post is read by the filters it matches, once, and by getMessages as long as it lives", async () => {
    const { whisper, clock } = openWhisper();
    const id = whisper.newFilter({ ...ANYTHING, topics: [[wireTopic(text("hello world"))]] });
    const other = whisper.newFilter({ ...ANYTHING, topics: [[wireTopic(text("other"))]] });
    assert.equal(await whisper.post(POST), true);
    const [message, ...more] = whisper.filterChanges(id);
    assert.equal(more.length, 0);
    assert.deepEqual(message?.payload, POST.payload);
    assert.equal(message.expiry - message.ttl, message.sent);
    assert.equal(message.sent, clock.seconds);
    assert.deepEqual(message.topics.map(bytesToHex), ["0x47173285"]);
    assert.deepEqual(whisper.filterChanges(id), []);
    assert.deepEqual(whisper.filterChanges(other), []);
    assert.equal(whisper.messages(id).length, 1);
    clock.seconds += 100;
    whisper.sweep();
    assert.deepEqual(whisper.messages(id), []);
  });

  test("getMessages counts as a poll: its messages are no changes later", async () => {
    const { whisper } = openWhisper();
    const id = whisper.newFilter(ANYTHING);
    await whisper.post(POST);
    assert.equal(whisper.messages(id).length, 1);
    assert.deepEqual(whisper.filterChanges(id), []);
  });

  test("topics match by position, with alternatives and gaps; more topics than the filter has do not matter", async () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => wireTopic(text(name))) as [Uint8Array, Uint8Array, Uint8Array];
    const cases: readonly (readonly [Uint8Array[][], string[], boolean])[] = [
      [[[a], [b]], ["a", "b"], true],
      [[[a], [b]], ["b", "a"], false],
      [[[a], [b]], ["a"], false],
      [[[a]], ["a", "b"], true],
      [[[a], [b, c]], ["a", "c"], true],
      [[[], [b]], ["c", "b"], true],
      [[[], []], ["a"], false],
      [[], [], true],
    ];
    for (const [topics, posted, isMatch] of cases) {
      const { whisper } = openWhisper();
      const id = whisper.newFilter({ ...ANYTHING, topics });
      await whisper.post({ ...POST, topics: posted.map(text) });
      assert.equal(whisper.filterChanges(id).length, isMatch ? 1 : 0);
    }
  });

  test("filters by recipient and signer", async () => {
    const { whisper } = openWhisper();
    const [alice, bob] = [whisper.newIdentity(), whisper.newIdentity()];
    const toBob = whisper.newFilter({ ...ANYTHING, to: bob });
    const fromAlice = whisper.newFilter({ ...ANYTHING, from: alice });
    await whisper.post({ ...POST, from: alice, to: hexToBytes(bob) });
    await whisper.post({ ...POST, from: alice });
    await whisper.post({ ...POST, to: hexToBytes(alice) });
    await whisper.post(POST);
    assert.deepEqual(
      whisper.filterChanges(toBob).map(({ from, to }) => [from, to]),
      [[alice, bob]],
    );
    assert.deepEqual(
      whisper.filterChanges(fromAlice).map(({ from, to }) => [from, to]),
      [
        [alice, bob],
        [alice, undefined],
      ],
    );
  });

  test("an unknown sender, a payload that is too large and too many filters are rejected", async () => {
    const { whisper } = openWhisper({ filtersMax: 2 });
    const nobody = `0x04${"11".repeat(64)}` as Identity;
    await assert.rejects(whisper.post({ ...POST, from: nobody }), {
      code: "SHH_UNKNOWN_IDENTITY",
      message: `unknown identity to send from: ${nobody}`,
    });
    await whisper.post({ ...POST, payload: new Uint8Array(64 << 10) });
    await assert.rejects(whisper.post({ ...POST, payload: new Uint8Array((64 << 10) + 1) }), {
      code: "SHH_LIMIT",
    });
    whisper.newFilter(ANYTHING);
    whisper.newFilter(ANYTHING);
    assert.throws(() => whisper.newFilter(ANYTHING), { code: "SHH_LIMIT" });
  });

  test("ttl is capped at a week; a ttl of 0 reaches nobody", async () => {
    const { whisper } = openWhisper();
    const id = whisper.newFilter(ANYTHING);
    await whisper.post({ ...POST, ttl: 0 });
    await whisper.post({ ...POST, ttl: 2 ** 40 });
    assert.deepEqual(
      whisper.filterChanges(id).map(({ ttl }) => ttl),
      [604_800],
    );
  });

  test("a filter that nobody polls is gone after five minutes", () => {
    const { whisper, clock } = openWhisper();
    const [idle, polled] = [whisper.newFilter(ANYTHING), whisper.newFilter(ANYTHING)];
    clock.ms += 200_000;
    whisper.filterChanges(polled);
    clock.ms += 100_001;
    whisper.sweep();
    assert.equal(whisper.uninstallFilter(idle), false);
    assert.equal(whisper.uninstallFilter(polled), true);
  });

  test("identities survive a restart, and nobody reads them out of the file", () => {
    const { file, content } = memoryFile();
    const identity = openWhisper({ file }).whisper.newIdentity();
    assert.equal(openWhisper({ file }).whisper.hasIdentity(identity), true);
    const stored = Buffer.from(content()!).toString("hex");
    assert.ok(!stored.includes(identity.slice(4, 40)));
    assert.throws(() => new Identities({ identitiesMax: 5, secret: new Uint8Array(32) }, file), {
      code: "STORE_WHISPER_IDENTITIES",
    });
    const full = new Identities({ identitiesMax: 2, secret: SECRET }, file);
    full.create("identity");
    assert.throws(() => full.create("identity"), { code: "SHH_LIMIT" });
  });

  test("a member that was invited reads what is sent to the group; others and forged invitations do not", async () => {
    const [owner, member] = [openWhisper(), openWhisper()];
    for (const [from, to] of [
      [owner, member],
      [member, owner],
    ] as const) {
      from.whisper.onEnvelope((envelope) => void to.whisper.receive(envelope));
    }
    const bob = member.whisper.newIdentity();
    const group = await owner.whisper.newGroup(undefined, []);
    assert.equal(owner.whisper.hasIdentity(group), true);
    assert.equal(member.whisper.hasIdentity(group), false);
    assert.equal(await owner.whisper.addToGroup(undefined, hexToBytes(bob)), true);
    assert.equal(member.whisper.hasIdentity(group), true);
    const id = member.whisper.newFilter({ ...ANYTHING, to: group });
    await owner.whisper.post({ ...POST, to: hexToBytes(group) });
    assert.deepEqual(
      member.whisper.filterChanges(id).map(({ to }) => to),
      [group],
    );
    assert.equal(await member.whisper.addToGroup(undefined, hexToBytes(bob)), false);
    assert.equal(await member.whisper.addToGroup(group, hexToBytes(bob)), true);

    // A key that did not sign its own invitation.
    const stranger = owner.identities.create("identity");
    const forged = wrapMessage({
      payload: new PrivateKey().secret,
      from: stranger,
      to: hexToBytes(bob),
    });
    const count = member.identities.size;
    const { clock } = member;
    member.whisper.receive(
      sealEnvelope({
        expiry: clock.seconds + 10,
        ttl: 10,
        topics: [Uint8Array.of(0x80, 0, 0, 0)],
        data: forged,
        nonce: 0n,
      }),
    );
    assert.equal(member.identities.size, count);
  });
});
