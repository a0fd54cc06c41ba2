import { opcodeName } from "../../machine/opcodes.ts";

/** Bytes shared with the script: numbers first, then room for one piece of data. */
export const WINDOW = { size: 65_536, data: 512 } as const;
export const DATA_MAX = WINDOW.size - WINDOW.data;

/** Numbers in the window, by index. */
export const cell = {
  /** The step the script looks at. */
  pc: 0,
  gas: 1,
  cost: 2,
  depth: 3,
  refund: 4,
  opcode: 5,
  /** 1: the step failed, its text is to be requested. */
  hasError: 6,
  /** The script read out of bounds: it fails when its function returns. */
  hasFailed: 7,
  /** A call of the host: what is asked, its arguments, size and further results. */
  request: 8,
  first: 9,
  second: 10,
  size: 11,
  found: 12,
  /** Gas of the frame or used by it */
  frameGas: 13,
} as const;

/** What a script asks the host for; data is moved through the window piece by piece. */
export const ask = {
  /** Loads the item for `read`; `first` and `second` are its arguments. */
  stackWord: 1,
  stackLength: 2,
  memoryLength: 3,
  memory: 4,
  caller: 5,
  address: 6,
  callValue: 7,
  callInput: 8,
  error: 9,
  frameType: 10,
  frameFrom: 11,
  frameTo: 12,
  frameInput: 13,
  frameValue: 14,
  frameOutput: 15,
  balance: 16,
  nonce: 17,
  code: 18,
  state: 19,
  exists: 20,
  contractAddress: 21,
  contractAddress2: 22,
  input: 23,
  output: 24,
  /** Copies the loaded item from `first` on. */
  read: 30,
  /** Appends the window's data to what the script sends; `first` 1 begins anew. */
  send: 31,
  failure: 32,
} as const;

const NAMES = JSON.stringify(Array.from({ length: 256 }, (_, opcode) => opcodeName(opcode)));

/**
 * JavaScript of the objects geth hands to a tracer. It is the body of a function of `window` (the shared bytes), `host` (asks the
 * host), `bigInt`; it returns what the host calls. Built-in functions it needs later are taken before the caller's script can
 * replace them, so such a script changes nothing but its own answer.
 */
export const GUEST_OBJECTS = `
((buffer, host, bigInt) => {
  "use strict";
  const cells = new Float64Array(buffer, 0, 64);
  const data = new Uint8Array(buffer, ${WINDOW.data}, ${DATA_MAX});
  const words = new BigUint64Array(buffer, ${WINDOW.data}, 4);
  const NAMES = ${NAMES};
  const HEX = Array.from({ length: 256 }, (_, i) => (i < 16 ? "0" : "") + i.toString(16));
  const Bytes = Uint8Array;
  const { stringify, parse } = JSON;
  const { fromCharCode } = String;
  const { isArray } = Array;
  const setBytes = ((set) => (target, source, at) => apply(set, target, [source, at]))(Bytes.prototype.set);
  const subarray = ((sub) => (source, from, to) => apply(sub, source, [from, to]))(Bytes.prototype.subarray);
  const apply = Reflect.apply;
  const floor = Math.floor;
  const unsigned256 = () => (words[3] === 0n && words[2] === 0n && words[1] === 0n ? words[0] : (words[3] << 192n) | (words[2] << 128n) | (words[1] << 64n) | words[0]);
  const integer = () => bigInt(unsigned256());

  function asked(request, first, second) {
    cells[${cell.first}] = first; cells[${cell.second}] = second; cells[${cell.request}] = request;
    host();
    if (cells[${cell.hasFailed}] !== 0) throw new Error("tracer failed");
    return cells[${cell.found}];
  }
  function fail(message) {
    send(encode(message));
    asked(${ask.failure});
  }
  /** Fetches an item the host has loaded. */
  function loaded(request, first, second) {
    asked(request, first, second);
    const size = cells[${cell.size}];
    const bytes = new Bytes(size);
    for (let at = 0; at < size; ) {
      asked(${ask.read}, at);
      const count = cells[${cell.size}];
      setBytes(bytes, subarray(data, 0, count), at);
      at += count;
    }
    return bytes;
  }
  function text(request) {
    const bytes = loaded(request);
    let out = "";
    for (let i = 0; i < bytes.length; i++) out += fromCharCode(bytes[i]);
    return out;
  }
  function encode(message) {
    const bytes = new Bytes(message.length);
    for (let i = 0; i < message.length; i++) bytes[i] = message.charCodeAt(i);
    return bytes;
  }
  function send(bytes) {
    let isFirst = 1;
    for (let at = 0; isFirst === 1 || at < bytes.length; at += ${DATA_MAX}) {
      const part = subarray(bytes, at, at + ${DATA_MAX});
      setBytes(data, part, 0);
      cells[${cell.size}] = part.length;
      asked(${ask.send}, isFirst);
      isFirst = 0;
    }
  }
  function fromHex(value) {
    let digits = value[0] === "0" && (value[1] === "x" || value[1] === "X") ? value.slice(2) : value;
    if (digits.length % 2 === 1) digits = "0" + digits;
    const valid = /^(?:[0-9a-fA-F]{2})*/.exec(digits)[0];
    const bytes = new Bytes(valid.length / 2);
    for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(valid.slice(2 * i, 2 * i + 2), 16);
    return bytes;
  }
  function fromBuffer(value, isTextAllowed) {
    if (isTextAllowed && (typeof value === "string" || value instanceof String)) return fromHex("" + value);
    if (value instanceof Bytes) return value;
    if (isArray(value)) return new Bytes(value);
    return fail("invalid buffer type");
  }
  function sized(bytes, size) {
    const out = new Bytes(size);
    if (bytes.length >= size) setBytes(out, subarray(bytes, bytes.length - size, bytes.length), 0);
    else setBytes(out, bytes, size - bytes.length);
    return out;
  }
  const addressOf = (value, isTextAllowed) => sized(fromBuffer(value, isTextAllowed), 20);
  function hexOf(bytes) {
    let out = "0x";
    for (let i = 0; i < bytes.length; i++) out += HEX[bytes[i]];
    return out;
  }
  /** A number as Go takes it from JavaScript: towards zero, 0 for NaN. */
  const whole = (v) => { const n = +v; return n !== n ? 0 : n < 0 ? -floor(-n) : floor(n); };

  const log = {
    getPC: () => cells[${cell.pc}],
    getGas: () => cells[${cell.gas}],
    getCost: () => cells[${cell.cost}],
    getDepth: () => cells[${cell.depth}],
    getRefund: () => cells[${cell.refund}],
    getError: () => (cells[${cell.hasError}] === 0 ? undefined : text(${ask.error})),
    op: {
      toNumber: () => cells[${cell.opcode}],
      toString: () => NAMES[cells[${cell.opcode}]],
      isPush: () => cells[${cell.opcode}] >= 0x5f && cells[${cell.opcode}] <= 0x7f,
    },
    stack: {
      length: () => asked(${ask.stackLength}),
      peek(index) {
        const at = whole(index);
        if (asked(${ask.stackWord}, at) === 0) fail("tracer accessed out of bound stack: size " + asked(${ask.stackLength}) + ", index " + at);
        return integer();
      },
    },
    memory: {
      length: () => asked(${ask.memoryLength}),
      slice(begin, end) {
        const from = whole(begin), to = whole(end);
        if (from === to) return new Bytes(0);
        if (to < from || from < 0) fail("tracer accessed out of bound memory: offset " + from + ", end " + to);
        const padding = to - asked(${ask.memoryLength});
        if (padding > 1048576) fail("reached limit for padding memory slice: " + padding);
        return loaded(${ask.memory}, from, to);
      },
      getUint(offset) {
        const at = whole(offset), size = asked(${ask.memoryLength});
        if (at < 0 || size < at + 32) fail("tracer accessed out of bound memory: available " + size + ", offset " + at + ", size 32");
        const bytes = loaded(${ask.memory}, at, at + 32);
        return bigInt(BigInt(hexOf(bytes)));
      },
    },
    contract: {
      getCaller: () => loaded(${ask.caller}),
      getAddress: () => loaded(${ask.address}),
      getValue: () => (asked(${ask.callValue}), integer()),
      getInput: () => loaded(${ask.callInput}),
    },
  };
  const db = {
    getBalance: (address) => (send(addressOf(address, false)), asked(${ask.balance}), integer()),
    getNonce: (address) => (send(addressOf(address, false)), asked(${ask.nonce})),
    getCode: (address) => (send(addressOf(address, false)), loaded(${ask.code})),
    getState(address, key) {
      const both = new Bytes(52);
      setBytes(both, addressOf(address, false), 0);
      setBytes(both, sized(fromBuffer(key, false), 32), 20);
      send(both);
      return loaded(${ask.state});
    },
    exists: (address) => (send(addressOf(address, false)), asked(${ask.exists}) === 1),
  };
  const frame = {
    getType: () => text(${ask.frameType}),
    getFrom: () => loaded(${ask.frameFrom}),
    getTo: () => loaded(${ask.frameTo}),
    getInput: () => loaded(${ask.frameInput}),
    getGas: () => cells[${cell.frameGas}],
    getValue: () => (asked(${ask.frameValue}) === 0 ? undefined : integer()),
  };
  const frameResult = {
    getGasUsed: () => cells[${cell.frameGas}],
    getOutput: () => loaded(${ask.frameOutput}),
    getError: () => (cells[${cell.hasError}] === 0 ? undefined : text(${ask.error})),
  };
  let precompiles;
  Object.assign(globalThis, {
    bigInt,
    toHex: (value) => hexOf(fromBuffer(value, false)),
    toWord: (value) => sized(fromBuffer(value, true), 32),
    toAddress: (value) => addressOf(value, true),
    toContract(from, nonce) {
      send(addressOf(from, true));
      return loaded(${ask.contractAddress}, whole(nonce));
    },
    toContract2(from, salt, initCode) {
      const sender = addressOf(from, true), word = sized(fromHex("" + salt), 32), code = fromBuffer(initCode, true);
      const all = new Bytes(52 + code.length);
      setBytes(all, sender, 0); setBytes(all, word, 20); setBytes(all, code, 52);
      send(all);
      return loaded(${ask.contractAddress2});
    },
    isPrecompiled: (address) => precompiles.has(hexOf(addressOf(address, true))),
    slice(value, start, end) {
      const bytes = fromBuffer(value, false), from = whole(start), to = whole(end);
      if (from < 0 || from > to || to > bytes.length) {
        fail("Tracer accessed out of bound memory: available " + bytes.length + ", offset " + from + ", size " + (to - from));
      }
      return new Bytes(subarray(bytes, from, to));
    },
  });

  /** What geth's JSON encoder makes of the value of result(). */
  function jsonOf(value) {
    if (value === undefined || value === null) return "{}";
    if (typeof value === "number" && (value !== value || value - value !== 0)) {
      throw new Error("json: unsupported value: " + (value !== value ? "NaN" : value > 0 ? "+Inf" : "-Inf"));
    }
    const out = stringify(value);
    return out === undefined ? "null" : out;
  }
  return {
    log, db, frame, frameResult,
    has: (tracer, name) => (typeof tracer[name] === "function" ? "1" : ""),
    begin(addresses) { precompiles = new Set(parse(addresses)); },
    result(fn, tracer, known) {
      const ctx = parse(known);
      const bytesAt = (name) => { if (ctx[name] !== undefined) ctx[name] = fromHex(ctx[name]); };
      bytesAt("blockHash"); bytesAt("txHash"); bytesAt("coinbase"); bytesAt("from"); bytesAt("to");
      ctx.gasPrice = bigInt(ctx.gasPrice); ctx.value = bigInt(ctx.value);
      ctx.input = loaded(${ask.input});
      ctx.output = loaded(${ask.output});
      return jsonOf(apply(fn, tracer, [ctx, db]));
    },
  };
})
`;
