import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { bytesToHex, hexToBytes } from "../../../base/primitives/hex.ts";
import {
  decodeReply,
  decodeRequest,
  exceptionFrame,
  FRAME_BYTES_MAX,
  FrameReader,
  replyFrame,
  requestFrame,
} from "./frames.ts";
import { CALLS, type CallName, consensusParams, type Request, validatorUpdate } from "./messages.ts";
import { decodeMessage, encodeMessage, encodeVarint, type MessageType, message, repeated, single } from "./protobuf.ts";

const hex = (text: string) => hexToBytes(`0x${text}`);

test("sfixed64 is eight little-endian bytes in two's complement", () => {
  const type = message({ height: single(2, "sfixed64"), rounds: repeated(3, "sfixed64") });
  const value = { height: -2n, rounds: [1n, 0n] };
  const bytes = encodeMessage(type, value);
  assert.equal(bytesToHex(bytes), "0x11feffffffffffffff190100000000000000190000000000000000");
  assert.deepEqual(decodeMessage(type, bytes), value);
  assert.throws(() => decodeMessage(type, bytes.subarray(0, 5)), {
    code: "ABCI_MALFORMED_PROTOBUF",
  });
});

test("the flush request and its reply are the bytes CometBFT sends and expects", () => {
  assert.equal(bytesToHex(requestFrame("flush", {})), "0x021200");
  assert.equal(bytesToHex(replyFrame("flush", {})), "0x021a00");
});

test("consensus parameters as CometBFT v0.40 sends them are read and written to the same bytes", () => {
  const recorded = hex(
    "0a0a0880808004108087a70e120e08a08d0612040880c60a188080041a0e0a0c736563703235366b31657468220208012a003200",
  );
  const params = decodeMessage(consensusParams, recorded);
  assert.deepEqual(params.block, { maxBytes: 8_388_608n, maxGas: 30_000_000n });
  assert.equal(params.evidence?.maxAgeDuration?.seconds, 172_800n);
  assert.deepEqual(params.validator, { pubKeyTypes: ["secp256k1eth"] });
  assert.equal(params.version?.app, 1n);
  assert.equal(bytesToHex(encodeMessage(consensusParams, params)), bytesToHex(recorded));
});

/** Requests that CometBFT v0.40.0 sent in a network of four validators (`EVMINT_RECORD_ABCI`, test/network). */
const recorded = JSON.parse(
  readFileSync(new URL("../../../../test/support/consensus/cometbft/recorded-requests.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;

for (const [call, bytes] of Object.entries(recorded)) {
  test(`${call} as CometBFT sends it is read, and written to the same bytes`, () => {
    const request = decodeRequest(hex(bytes));
    assert.equal(request.call, call);
    const [body] = new FrameReader().push(requestFrame(request.call, request.fields as never));
    assert.equal(bytesToHex(body!), `0x${bytes}`);
  });
}

test("the genesis and the first block of four validators are read as CometBFT means them", () => {
  const read = <Name extends CallName>(name: Name) => decodeRequest(hex(recorded[name]!)).fields as Request<Name>;
  const { chainId, initialHeight, validators, time } = read("initChain");
  assert.equal(chainId, "evmint-9000");
  assert.equal(initialHeight, 1n);
  assert.deepEqual(
    validators.map(({ power, pubKey }) => [power, pubKey.secp256k1eth?.length]),
    Array.from({ length: 4 }, () => [1n, 33]),
  );
  const block = read("finalizeBlock");
  assert.equal(block.height, 1n);
  assert.deepEqual(block.time, time);
  assert.equal(block.hash.length, 32);
  assert.equal(block.proposerAddress.length, 20);
  assert.equal(block.txs[0]![0], 0xbf);
  assert.deepEqual(block.lastCommit.votes, []);
});

test("a validator of power 1 is the bytes CometBFT sends", () => {
  const key = new Uint8Array(33).fill(7);
  const encoded = encodeMessage(validatorUpdate, { pubKey: publicKey(key), power: 1n });
  assert.equal(bytesToHex(encoded), `0x0a232a21${"07".repeat(33)}1001`);
});

test("negative integers take ten bytes and come back", () => {
  const frame = requestFrame("query", { height: -1n });
  assert.equal(bytesToHex(frame), "0x0d320b18ffffffffffffffffff01");
  const [body] = new FrameReader().push(frame);
  assert.equal((decodeRequest(body!).fields as { height: bigint }).height, -1n);
});

test("unknown fields of every wire type are skipped", () => {
  const type = CALLS.info.reply[1];
  const known = encodeMessage(type, { version: "1" });
  // Field 111 as varint, fixed64, fixed32 and bytes.
  const withUnknown = Buffer.concat([
    known,
    hex("f80601"),
    hex("f9060000000000000000"),
    hex("fd0600000000"),
    hex("fa0602aabb"),
  ]);
  assert.deepEqual(decodeMessage(type, withUnknown), decodeMessage(type, known));
});

test("decodeReply distinguishes a reply from an exception", () => {
  const [body] = new FrameReader().push(exceptionFrame("no"));
  assert.deepEqual(decodeReply(body!), { call: "exception", fields: { error: "no" } });
});

test("calls that are not supported and bytes that are no call are rejected", () => {
  for (const body of ["920100", "08", "", "1a05", "fa0300", "ffffffffffff"]) {
    assert.throws(() => decodeRequest(hex(body)), { code: "ABCI_MALFORMED_PROTOBUF" }, body);
  }
});

test("a frame above the limit is rejected by its length alone", () => {
  assert.throws(() => new FrameReader().push(encodeVarint(BigInt(FRAME_BYTES_MAX + 1))), {
    code: "ABCI_MALFORMED_PROTOBUF",
  });
});

test("every message comes back from its bytes, however the stream is cut", () => {
  const anyCall = fc.constantFrom(...(Object.keys(CALLS) as CallName[]));
  fc.assert(
    fc.property(
      fc.array(
        anyCall.chain((call) => fc.record({ call: fc.constant(call), fields: anyFields(CALLS[call].request[1]) })),
        { maxLength: 5 },
      ),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (calls, cuts) => {
        const stream = Buffer.concat(calls.map(({ call, fields }) => requestFrame(call, fields as never)));
        const reader = new FrameReader();
        const decoded: unknown[] = [];
        for (let at = 0; at < stream.length; ) {
          const end = at + cuts.next().value!;
          for (const body of reader.push(stream.subarray(at, end))) decoded.push(decodeRequest(body));
          at = end;
        }
        assert.deepEqual(plain(decoded), plain(calls));
      },
    ),
  );
});

/** Any value of a message type: every field set. */
function anyFields(type: MessageType<never> | unknown): ReturnType<typeof fc.anything> {
  const { fields } = type as { fields: Record<string, { type: unknown; label: string }> };
  return fc.record(
    Object.fromEntries(
      Object.entries(fields).map(([name, { type, label }]) => {
        const value = typeof type === "string" ? anyScalar(type) : anyFields(type);
        if (label === "repeated") return [name, fc.array(value, { maxLength: 3 })];
        return [name, value];
      }),
    ),
  );
}

function anyScalar(type: string): ReturnType<typeof fc.anything> {
  switch (type) {
    case "bytes":
      return fc.uint8Array({ maxLength: 200 });
    case "string":
      return fc.string({ unit: "binary" });
    case "bool":
      return fc.boolean();
    case "int32":
      return fc.integer();
    case "uint32":
      return fc.nat(2 ** 32 - 1 - 2 ** 31);
    case "int64":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    default:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  }
}

/** Buffers and byte arrays alike. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function publicKey(secp256k1eth: Uint8Array) {
  const none = undefined;
  return { ed25519: none, secp256k1: none, bls12381: none, mldsa65: none, secp256k1eth };
}
