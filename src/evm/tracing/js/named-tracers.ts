/**
 * Tracers in JavaScript under geth's names, written for the interface of geth's own. The results equal geth's, quirks included: a
 * difference of one key would break who parses them.
 */
export const NAMED_SCRIPTS: Readonly<Record<string, string>> = {
  /** Number of opcodes that ran. */
  opcountTracer: `{
  steps: 0,
  step() { this.steps++; },
  fault() {},
  result() { return this.steps; },
}`,

  /** How often each opcode ran. */
  unigramTracer: `{
  seen: {},
  step(log) {
    const name = log.op.toString();
    this.seen[name] = (this.seen[name] || 0) + 1;
  },
  fault() {},
  result() { return this.seen; },
}`,

  /** How often each pair of opcodes ran one after the other at the same depth. */
  bigramTracer: `{
  seen: {},
  previous: "",
  depth: 0,
  step(log) {
    const name = log.op.toString();
    const depth = log.getDepth();
    if (depth === this.depth) {
      const pair = this.previous + "-" + name;
      this.seen[pair] = (this.seen[pair] || 0) + 1;
    }
    this.previous = name;
    this.depth = depth;
  },
  fault() {},
  result() { return this.seen; },
}`,

  /** The same for three; the first opcode at a new depth is left out, and the names before the second are empty. */
  trigramTracer: `{
  seen: {},
  older: "",
  previous: "",
  depth: 0,
  step(log) {
    const depth = log.getDepth();
    if (depth !== this.depth) {
      this.older = this.previous = "";
      this.depth = depth;
      return;
    }
    const name = log.op.toString();
    const triple = this.older + "-" + this.previous + "-" + name;
    this.seen[triple] = (this.seen[triple] || 0) + 1;
    this.older = this.previous;
    this.previous = name;
  },
  fault() {},
  result() { return this.seen; },
}`,

  /** Runs and shows nothing. */
  noopTracerLegacy: `{
  step() {},
  fault() {},
  result() { return {}; },
}`,

  /** Selectors of calls with the size of what follows; calls of precompiles are left out. */
  "4byteTracerLegacy": `{
  seen: {},
  count(selector, size) {
    const key = toHex(selector) + "-" + size;
    this.seen[key] = (this.seen[key] || 0) + 1;
  },
  step(log) {
    const name = log.op.toString();
    const hasValue = name === "CALL" || name === "CALLCODE";
    if (!hasValue && name !== "DELEGATECALL" && name !== "STATICCALL") return;
    const { stack, memory } = log;
    if (isPrecompiled(toAddress(stack.peek(1).toString(16)))) return;
    const at = hasValue ? 3 : 2;
    const size = stack.peek(at + 1).valueOf();
    if (size < 4) return;
    const offset = stack.peek(at).valueOf();
    this.count(memory.slice(offset, offset + 4), size - 4);
  },
  fault() {},
  result(ctx) {
    if (ctx.input.length >= 4) this.count(slice(ctx.input, 0, 4), ctx.input.length - 4);
    return this.seen;
  },
}`,

  /** The values that each opcode pushed; for calls, their arguments and inner opcodes. */
  evmdisTracer: `{
  frames: [{ ops: [] }],
  /** Words each opcode leaves to be shown; those that are missing leave none. */
  pushed: (() => {
    const counts = {};
    const one = [[0x01, 0x0b], [0x10, 0x1a], [0x20, 0x20], [0x30, 0x36], [0x38, 0x38], [0x3a, 0x3b],
      [0x40, 0x45], [0x51, 0x51], [0x54, 0x54], [0x58, 0x5a], [0x60, 0x7f], [0xf0, 0xf2]];
    for (const [from, to] of one) for (let op = from; op <= to; op++) counts[op] = 1;
    for (let i = 0; i < 16; i++) counts[0x80 + i] = counts[0x90 + i] = i + 2;
    return counts;
  })(),
  step(log) {
    const frame = this.frames[this.frames.length - 1];
    const error = log.getError();
    const depth = log.getDepth();
    if (error) {
      frame.error = error;
      return;
    }
    if (depth !== this.frames.length) {
      this.frames = this.frames.slice(0, depth);
      return;
    }
    const { stack, memory } = log;
    const before = frame.ops[frame.ops.length - 1];
    if (before) {
      for (let i = 0; i < this.pushed[before.op]; i++) before.result.push(stack.peek(i).toString(16));
    }
    const name = log.op.toString();
    const op = { op: log.op.toNumber(), depth, result: [] };
    const bytes = (at) => {
      const begin = stack.peek(at).valueOf();
      return memory.slice(begin, begin + stack.peek(at + 1).valueOf());
    };
    const descend = () => {
      op.error = null;
      op["return"] = null;
      op.ops = [];
      this.frames.push(op);
    };
    if (name === "CALL" || name === "CALLCODE") {
      op.gas = stack.peek(0).valueOf();
      op.to = stack.peek(1).toString(16);
      op.value = stack.peek(2).toString();
      op.input = bytes(3);
      descend();
    } else if (name === "DELEGATECALL" || name === "STATICCALL") {
      op.op = name;
      op.gas = stack.peek(0).valueOf();
      op.to = stack.peek(1).toString(16);
      op.input = bytes(2);
      descend();
    } else if (name === "RETURN" || name === "REVERT") {
      frame["return"] = bytes(0);
    } else if (name === "STOP" || name === "SELFDESTRUCT") {
      frame["return"] = memory.slice(0, 0);
    } else if (name === "JUMPDEST") {
      op.pc = log.getPC();
    }
    if (log.op.isPush()) op.len = log.op.toNumber() - 0x5e;
    frame.ops.push(op);
  },
  fault() {},
  result() { return this.frames[0].ops; },
}`,

  /** The call tree, derived only from opcodes. */
  callTracerLegacy: `{
  open: [{}],
  /** The last opcode was a call or creation: the next one may be its first. */
  hasDescended: false,
  hex: (number) => "0x" + bigInt(number).toString(16),
  addTo(parent, call) { (parent.calls = parent.calls || []).push(call); },
  top() { return this.open[this.open.length - 1]; },
  step(log, db) {
    if (log.getError() !== undefined) {
      this.fault(log);
      return;
    }
    const { stack, memory } = log;
    const name = log.op.toNumber() >= 0xf0 ? log.op.toString() : "";
    const own = () => toHex(log.contract.getAddress());
    const push = (call) => {
      this.open.push(call);
      this.hasDescended = true;
    };
    const bytes = (at) => {
      const begin = stack.peek(at).valueOf();
      return toHex(memory.slice(begin, begin + stack.peek(at + 1).valueOf()));
    };
    if (name === "CREATE" || name === "CREATE2") {
      push({ type: name, from: own(), input: bytes(1), gasIn: log.getGas(), gasCost: log.getCost(), value: "0x" + stack.peek(0).toString(16) });
      return;
    }
    if (name === "SELFDESTRUCT") {
      this.addTo(this.top(), {
        type: name, from: own(), to: toHex(toAddress(stack.peek(0).toString(16))),
        gasIn: log.getGas(), gasCost: log.getCost(),
        value: "0x" + db.getBalance(log.contract.getAddress()).toString(16),
      });
      return;
    }
    if (name === "CALL" || name === "CALLCODE" || name === "DELEGATECALL" || name === "STATICCALL") {
      const to = toAddress(stack.peek(1).toString(16));
      if (isPrecompiled(to)) return;
      const hasValue = name === "CALL" || name === "CALLCODE";
      const at = hasValue ? 3 : 2;
      const call = {
        type: name, from: own(), to: toHex(to), input: bytes(at), gasIn: log.getGas(), gasCost: log.getCost(),
        outOff: stack.peek(at + 2).valueOf(), outLen: stack.peek(at + 3).valueOf(),
      };
      if (hasValue) call.value = "0x" + stack.peek(2).toString(16);
      push(call);
      return;
    }
    if (this.hasDescended) {
      // Only the first opcode inside shows how much gas the call was given; a call of no code never does.
      if (log.getDepth() >= this.open.length) this.top().gas = log.getGas();
      this.hasDescended = false;
    }
    if (name === "REVERT") {
      this.top().error = "execution reverted";
      return;
    }
    if (log.getDepth() === this.open.length - 1) this.close(log, db);
  },
  /** The innermost call has returned: its result is on the stack. */
  close(log, db) {
    const call = this.open.pop();
    const returned = log.stack.peek(0);
    const hasFailed = returned.equals(0);
    if (hasFailed && call.error === undefined) call.error = "internal failure";
    if (call.type === "CREATE" || call.type === "CREATE2") {
      call.gasUsed = this.hex(call.gasIn - call.gasCost - log.getGas());
      if (!hasFailed) {
        const created = toAddress(returned.toString(16));
        call.to = toHex(created);
        call.output = toHex(db.getCode(created));
      }
    } else {
      if (call.gas !== undefined) call.gasUsed = this.hex(call.gasIn - call.gasCost + call.gas - log.getGas());
      if (!hasFailed) call.output = toHex(log.memory.slice(call.outOff, call.outOff + call.outLen));
    }
    if (call.gas !== undefined) call.gas = this.hex(call.gas);
    this.addTo(this.top(), this.cleaned(call));
  },
  cleaned(call) {
    for (const name of ["gasIn", "gasCost", "outOff", "outLen"]) delete call[name];
    return call;
  },
  fault(log) {
    if (this.top().error !== undefined) return;
    const call = this.cleaned(this.open.pop());
    call.error = log.getError();
    if (call.gas !== undefined) call.gas = call.gasUsed = this.hex(call.gas);
    if (this.open.length > 0) this.addTo(this.top(), call);
    else this.open.push(call);
  },
  result(ctx) {
    const { calls, error = ctx.error } = this.open[0];
    const hasOutput = error === undefined || (error === "execution reverted" && ctx.output.length > 0);
    return this.ordered({
      type: ctx.type, from: toHex(ctx.from), to: toHex(ctx.to), value: "0x" + ctx.value.toString(16),
      gas: this.hex(ctx.gas), gasUsed: this.hex(ctx.gasUsed), input: toHex(ctx.input),
      output: hasOutput ? toHex(ctx.output) : undefined, error, calls,
    });
  },
  ordered({ type, from, to, value, gas, gasUsed, input, output, error, calls }) {
    const shown = calls && calls.map((call) => this.ordered(call));
    return { type, from, to, value, gas, gasUsed, input, output, error, calls: shown };
  },
}`,

  /** Accounts and slots that were touched, as they were before. */
  prestateTracerLegacy: `{
  accounts: null,
  load(address, db) {
    const key = toHex(address);
    this.accounts[key] = this.accounts[key] || {
      balance: "0x" + db.getBalance(address).toString(16), nonce: db.getNonce(address),
      code: toHex(db.getCode(address)), storage: {},
    };
    return this.accounts[key];
  },
  step(log, db) {
    const own = () => log.contract.getAddress();
    const address = (at) => toAddress(log.stack.peek(at).toString(16));
    if (this.accounts === null) {
      this.accounts = {};
      this.load(own(), db);
    }
    const name = log.op.toString();
    if (name === "BALANCE" || name === "EXTCODESIZE" || name === "EXTCODECOPY" || name === "EXTCODEHASH") {
      this.load(address(0), db);
    } else if (name === "CALL" || name === "CALLCODE" || name === "DELEGATECALL" || name === "STATICCALL") {
      this.load(address(1), db);
    } else if (name === "CREATE") {
      this.load(toContract(own(), db.getNonce(own())), db);
    } else if (name === "CREATE2") {
      const begin = log.stack.peek(1).valueOf();
      const code = log.memory.slice(begin, begin + log.stack.peek(2).valueOf());
      this.load(toContract2(own(), log.stack.peek(3).toString(16), code), db);
    } else if (name === "SLOAD" || name === "SSTORE") {
      const { storage } = this.accounts[toHex(own())];
      const slot = toWord(log.stack.peek(0).toString(16));
      const key = toHex(slot);
      if (storage[key] === undefined) storage[key] = toHex(db.getState(own(), slot));
    }
  },
  fault() {},
  result(ctx, db) {
    if (this.accounts === null) {
      this.accounts = {};
      this.load(ctx.to, db);
    }
    // The value has moved and gas was paid before the first opcode could be seen.
    const from = this.load(ctx.from, db);
    const to = this.accounts[toHex(ctx.to)];
    const received = bigInt(to.balance.slice(2), 16);
    const left = bigInt(from.balance.slice(2), 16);
    to.balance = "0x" + received.subtract(ctx.value).toString(16);
    from.balance = "0x" + left.add(ctx.value).add(ctx.gasUsed * ctx.gasPrice).toString(16);
    from.nonce--;
    if (ctx.type === "CREATE") delete this.accounts[toHex(ctx.to)];
    return this.accounts;
  },
}`,
};
