import { asm } from "../assemble.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

/*
 * What a bundler of user operations (ERC-4337) asks: a call that simulates a validation and always reverts with its outcome, under a
 * tracer in JavaScript that collects opcodes, slots, sizes of code and hashed memory, and a creation whose revert data is its answer.
 */

const addressOf = (index: number) => `0x${(0xb0d1e000 + index).toString(16).padStart(40, "0")}`;
const [SIMULATOR, ENTRY_POINT, VALIDATION, ACCOUNT] = [1, 2, 3, 4].map(addressOf) as [string, string, string, string];

/** `DelegateAndRevert(bool,bytes)` with the return data of the delegated call. */
const DELEGATE_AND_REVERT = `CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY
  PUSH0 PUSH0 CALLDATASIZE PUSH0 ${VALIDATION} GAS DELEGATECALL
  0x99410554 224 SHL PUSH0 MSTORE 4 MSTORE 64 36 MSTORE RETURNDATASIZE 68 MSTORE
  RETURNDATASIZE PUSH0 100 RETURNDATACOPY RETURNDATASIZE 100 ADD PUSH0 REVERT`;

/** Calls the account with data and value, logs, and returns what it returned. */
const VALIDATE = `0xdeadbeef 224 SHL PUSH0 MSTORE 32 PUSH0 36 PUSH0 PUSH0 ${ACCOUNT} GAS CALL POP
  7 32 PUSH0 LOG1 64 PUSH0 RETURN`;

/** Uses each kind of opcode that validation rules are about. */
const VALIDATE_ACCOUNT = `CALLER PUSH0 MSTORE 3 32 MSTORE 64 PUSH0 KECCAK256 DUP1 SLOAD POP 1 SWAP1 SSTORE
  ${ENTRY_POINT} EXTCODESIZE ISZERO POP ${addressOf(9)} EXTCODEHASH POP GAS POP TIMESTAMP POP
  5 TLOAD POP 6 5 TSTORE 32 PUSH0 32 PUSH0 4 GAS STATICCALL POP 99 PUSH0 MSTORE 32 PUSH0 RETURN`;

/** Returns the return data of the entry point, which reverted. */
const SIMULATE = `CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY PUSH0 PUSH0 CALLDATASIZE PUSH0 PUSH0 ${ENTRY_POINT} GAS CALL POP
  RETURNDATASIZE PUSH0 PUSH0 RETURNDATACOPY RETURNDATASIZE PUSH0 RETURN`;

const OVERRIDES = {
  [SIMULATOR]: { code: asm(SIMULATE) },
  [ENTRY_POINT]: { code: asm(DELEGATE_AND_REVERT) },
  [VALIDATION]: { code: asm(VALIDATE) },
  [ACCOUNT]: { code: asm(VALIDATE_ACCOUNT), balance: "0xde0b6b3a7640000" },
};

/** Init code that reverts with the hash of code hashes: how code is compared in one call. */
const REVERTING_INIT = asm(
  `0x091cd005 224 SHL PUSH0 MSTORE ${ACCOUNT} EXTCODEHASH 4 MSTORE 32 4 KECCAK256 4 MSTORE 36 PUSH0 REVERT`,
);

const COLLECTOR = `{
  frames: [], opcodes: {}, slots: {}, sizes: {}, hashed: [], topics: [], last: "",
  count: function (list, key) { list[key] = (list[key] || 0) + 1; },
  enter: function (frame) {
    this.frames.push([frame.getType(), toHex(frame.getFrom()), toHex(frame.getTo()), toHex(frame.getInput()).slice(0, 10),
      frame.getGas(), frame.getValue()]);
  },
  exit: function (frame) {
    this.frames.push([frame.getError() === undefined ? "return" : frame.getError(), frame.getGasUsed(), toHex(frame.getOutput())]);
  },
  step: function (log, db) {
    if (log.getDepth() < 3) return;
    var opcode = log.op.toString();
    if (opcode === "REVERT" || opcode === "RETURN") {
      var start = parseInt(log.stack.peek(0).toString()), length = parseInt(log.stack.peek(1).toString());
      this.frames.push([opcode, log.getDepth(), toHex(log.memory.slice(start, start + length))]);
    }
    if (log.getGas() < log.getCost()) this.outOfGas = true;
    if (/^(EXT.*|CALL|DELEGATECALL|STATICCALL)$/.test(opcode)) {
      var target = toAddress(log.stack.peek(opcode.indexOf("EXT") === 0 ? 0 : 1).toString(16));
      this.sizes[toHex(target)] = [db.getCode(target).length, db.exists(target), isPrecompiled(target)];
    }
    if (this.last !== "GAS" || opcode.indexOf("CALL") < 0) this.count(this.opcodes, opcode);
    if (/^[ST](LOAD|STORE)$/.test(opcode)) {
      var slot = toWord(log.stack.peek(0).toString(16)), owner = log.contract.getAddress();
      var key = toHex(owner) + " " + toHex(slot);
      if (this.slots[key] === undefined) this.slots[key] = [toHex(db.getState(owner, slot))];
      this.slots[key].push(opcode);
    }
    if (opcode === "KECCAK256") {
      var from = log.stack.peek(0).valueOf(), size = log.stack.peek(1).valueOf();
      this.hashed.push(toHex(log.memory.slice(from, from + size)));
    }
    if (opcode.indexOf("LOG") === 0) this.topics.push("0x" + log.stack.peek(2).toString(16));
    this.last = opcode;
  },
  fault: function (log) {
    this.frames.push(["fault", log.getDepth(), log.getGas(), log.getCost(), log.getError()]);
  },
  result: function () {
    return { frames: this.frames, opcodes: this.opcodes, slots: this.slots, sizes: this.sizes, hashed: this.hashed,
      topics: this.topics, outOfGas: this.outOfGas };
  },
}`;

export function* bundlerCases({ sender }: ChainFacts): Generator<DifferentialCase> {
  const of = (name: string, method: string, ...params: readonly unknown[]) => ({
    name: `bundler: ${name}`,
    method,
    params,
  });
  const from = `0x${"00".repeat(20)}`;
  const simulation = { from, to: SIMULATOR, data: "0x00112233" };
  const direct = { from, to: ENTRY_POINT, data: "0x00112233" };
  for (const [name, call] of [
    ["simulation", simulation],
    ["entry point", direct],
    ["simulation from a sender", { ...simulation, from: sender, gas: "0xf4240" }],
    ["simulation out of gas", { ...simulation, from: sender, gas: "0x9c40" }],
  ] as const) {
    for (const tracer of [COLLECTOR, "erc7562Tracer", "callTracer"]) {
      yield of(name, "debug_traceCall", call, "latest", { tracer, stateOverrides: OVERRIDES });
    }
    yield of(name, "eth_call", call, "latest", OVERRIDES);
    yield of(name, "eth_estimateGas", call, "latest", OVERRIDES);
  }
  const creation = { from: sender, data: REVERTING_INIT };
  yield of("answer in a revert", "eth_call", creation, "latest", OVERRIDES);
  yield of("answer in a revert", "eth_estimateGas", creation, "latest", OVERRIDES);
  yield of("answer in a revert", "debug_traceCall", creation, "latest", {
    tracer: COLLECTOR,
    stateOverrides: OVERRIDES,
  });
}
