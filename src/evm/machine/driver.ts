import { initCodeSizeMaxOf } from "../../base/params/execution-limits.ts";
import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { create, endCreation, enterCreation } from "./contract-creation.ts";
import type { BlockContext, ExecuteOptions, ExecutionResult, Message } from "./evm.ts";
import { endWithoutFrame, popFrame } from "./frames.ts";
import type { Build } from "./gen/loop.ts";
import { exit, type Halt, haltOf } from "./halts.ts";
import { costOfHaltedStep, notifyStep } from "./hooks/step.ts";
import { traceEnter } from "./hooks/trace-frames.ts";
import { createHost, delegateOf, selfDestruct } from "./host.ts";
import { CodeCache } from "./memory/code-cache.ts";
import {
  BLOB_HASHES,
  BLOB_HASHES_MAX,
  environment,
  flag,
  frame,
  globals,
  MEMORY,
  record,
  request,
  STACK_TOP,
  WORD,
} from "./memory/layout.ts";
import type { LinearMemory } from "./memory/linear-memory.ts";
import { Logs } from "./memory/logs.ts";
import { Records, type WarmSet } from "./memory/records.ts";
import { enterCall } from "./message-call.ts";
import { CompiledTier, type TierOptions } from "./modules/compiled-tier.ts";
import { createInterpreter, type HostFunctions, type Interpreter } from "./modules/interpreters.ts";
import { CALL, CREATE, CREATE2, opcodesOf } from "./opcodes.ts";
import { rulesOf } from "./rules.ts";
import {
  accountOf,
  align32,
  EMPTY_SUCCESS,
  type FrameResult,
  halted,
  LinearMemoryExhausted,
  OutOfTime,
  type Session,
} from "./session.ts";
import type { Precompile, State } from "./state-port.ts";
import type { Tracer } from "./tracer.ts";

/** The interpreter counts gas as a signed number of 64 bits. */
const GAS_MAX = (1n << 63n) - 1n;

/** Gas a frame with a deadline uses between two checks of the clock: at 25 ns per gas some 6 ms (bench/worst-case). */
const SLICE_GAS = 250_000n;

/** Linear memory ends here, below 2^32 so that every end of a range fits 32 bits. */
const LINEAR_MEMORY_END = 0xffff0000;

const RIPEMD160 = `0x${"00".repeat(19)}03` as Address;

/** Warm addresses that are searched one after the other. */
const LISTED_MAX = 8;

const NO_SLOTS: WarmSet["slots"] = new Map();

type DriverOptions = {
  /** The clock of `ExecuteOptions.deadlineMs`, milliseconds. */
  readonly now: () => number;
  /** Where compiled contracts come from; without it the interpreter runs everything. */
  readonly tier?: TierOptions | undefined;
};

/**
 * Executions under the rules of one fork. Frames run one above the other without recursion: the interpreter runs the top
 * one until it ends or asks for another (Yellow Paper 8 and 9; the order of checks is go-ethereum's).
 */
export class Driver {
  readonly hardfork: Hardfork;
  readonly #memory: LinearMemory;
  readonly #host: HostFunctions;
  readonly #fast: Interpreter;
  readonly #traced = new Map<Build, Interpreter>();
  readonly #tier: CompiledTier | undefined;
  readonly #precompiles: ReadonlyMap<Address, Precompile>;
  readonly #now: () => number;
  #session: Session;
  #block: BlockContext | undefined;
  #isInterpreted = false;

  constructor(
    hardfork: Hardfork,
    memory: LinearMemory,
    precompiles: ReadonlyMap<Address, Precompile>,
    { now, tier }: DriverOptions,
  ) {
    this.#now = now;
    this.hardfork = hardfork;
    this.#memory = memory;
    this.#precompiles = precompiles;
    this.#host = createHost(() => {
      memory.refresh();
      return this.#session;
    });
    this.#fast = createInterpreter(hardfork, "fast", memory.memory, this.#host);
    const codes = new CodeCache(memory, opcodesOf(hardfork));
    if (tier) {
      this.#tier = new CompiledTier(hardfork, memory, codes, this.#fast, this.#host, tier);
    }
    this.#session = {
      memory,
      rules: rulesOf(hardfork),
      records: new Records(memory),
      codes,
      journal: this.#fast,
    } as Session;
  }

  execute(message: Message, block: BlockContext, state: State, options: ExecuteOptions): ExecutionResult {
    const gas = message.gas > GAS_MAX ? GAS_MAX : message.gas;
    this.#begin(message, block, state, options);
    const session = this.#session;
    try {
      this.#enter(message, gas);
      if (session.depth >= 0) this.#run(tracedBuild(options.tracer));
    } catch (error) {
      const kind = limitOf(error);
      if (kind === undefined) throw error;
      this.#memory.refresh();
      this.#abortCall({ kind });
    }
    this.#endTracing();
    return this.#result(message.gas - gas, options.withoutLogs !== true);
  }

  #begin(message: Message, block: BlockContext, state: State, options: ExecuteOptions): void {
    const memory = this.#memory;
    // An execution that was left by an exception may have grown it.
    memory.refresh();
    const { records, codes, rules, journal } = this.#session;
    const { deadlineMs } = options;
    this.#isInterpreted = options.isInterpreted === true;
    const precompiles = options.precompiles ?? this.#precompiles;
    this.#session = {
      memory,
      rules,
      records,
      codes,
      journal,
      state,
      block,
      precompiles,
      tracer: options.tracer,
      onAccess: options.onAccess,
      isOutOfTime: deadlineMs === undefined ? undefined : () => this.#now() > deadlineMs,
      logs: new Logs(memory, options.tracer?.onLog !== undefined),
      depth: -1,
      frameResult: EMPTY_SUCCESS,
      traced: 0,
      codeAt: [],
      gasAtEntry: [],
      touchedRipemd: false,
      step: undefined,
      isPricing: false,
    };
    codes.tidy();
    records.reset({
      state,
      codes,
      warm: warmSet(message, this.#precompiles),
      precompiles,
      hasDelegations: rules.eip7702,
    });
    memory.set64(globals.slice, deadlineMs === undefined ? GAS_MAX : SLICE_GAS);
    const end = options.memoryBytesMax === undefined ? LINEAR_MEMORY_END : MEMORY + options.memoryBytesMax;
    memory.set32(globals.memoryLimit, Math.min(end, LINEAR_MEMORY_END));
    memory.set32(globals.initCodeSizeMax, initCodeSizeMaxOf(this.hardfork, block));
    memory.set64(globals.reservoir, message.reservoir ?? 0n);
    this.#setEnvironment(message, block);
  }

  #setEnvironment(message: Message, block: BlockContext): void {
    const memory = this.#memory;
    memory.setHex(environment.origin, message.origin);
    memory.setWord(environment.gasPrice, message.gasPrice);
    const { blobVersionedHashes } = message;
    const count = Math.min(blobVersionedHashes.length, BLOB_HASHES_MAX);
    memory.set32(globals.blobHashCount, count);
    for (let i = 0; i < count; i++) memory.setHex(BLOB_HASHES + i * WORD, blobVersionedHashes[i]!);
    if (block === this.#block) return;
    this.#block = block;
    memory.setHex(environment.coinbase, block.coinbase);
    memory.setWord(environment.timestamp, block.timestampWord ?? BigInt(block.timestamp));
    memory.setWord(environment.number, block.numberWord ?? BigInt(block.number));
    // EIP-4399: PREVRANDAO takes the place of DIFFICULTY.
    if (RULES_AT[this.hardfork].paris) {
      memory.setHex(environment.difficulty, block.prevRandao);
    } else {
      memory.setWord(environment.difficulty, block.difficulty);
    }
    memory.setWord(environment.gasLimit, block.gasLimit);
    memory.setWord(environment.chainId, block.chainId);
    memory.setWord(environment.baseFee, block.baseFeePerGas);
    memory.setWord(environment.blobBaseFee, block.blobBaseFee);
    memory.setWord(environment.slotNumber, block.slotNumber ?? 0n);
  }

  /** Enters the message as if an empty frame called it. */
  #enter(message: Message, gas: bigint): void {
    const memory = this.#memory;
    const session = this.#session;
    const { data } = message;
    const inputEnd = align32(MEMORY + data.length);
    if (inputEnd > LINEAR_MEMORY_END || !memory.reserve(inputEnd + 1024)) {
      throw new LinearMemoryExhausted();
    }
    memory.put(data, MEMORY);
    memory.bytes.fill(0, frame.begin, frame.begin + frame.size);
    memory.set32(frame.sp, STACK_TOP);
    memory.set32(frame.memory, inputEnd);
    memory.set32(frame.account, accountOf(session, message.caller));

    memory.set64(request.gas, gas);
    memory.setWord(request.value, message.value);
    memory.set32(request.input, MEMORY);
    memory.set32(request.inputSize, data.length);
    memory.set32(request.output, 0);
    memory.set32(request.outputSize, 0);
    memory.set32(request.accountPaid, 0);
    if (message.isUnpaid) {
      memory.set32(request.opcode, message.to === null ? CREATE : CALL);
      memory.set32(request.target, accountOf(session, message.to ?? message.createAddress!));
      if (session.tracer) traceEnter(session);
      endWithoutFrame(session, halted({ kind: "outOfGas" }), "none");
      return;
    }
    if (message.to === null) {
      memory.set32(request.opcode, CREATE);
      memory.set32(request.target, accountOf(session, message.createAddress!));
      enterCreation(session);
      return;
    }
    const target = accountOf(session, message.to);
    const isDelegated = memory.get32(target + record.flags) & flag.delegated;
    memory.set32(request.opcode, CALL);
    memory.set32(request.target, target);
    memory.set32(request.codeAccount, isDelegated ? delegateOf(session, target) : target);
    enterCall(session);
  }

  #run(build: Build): void {
    const session = this.#session;
    const memory = this.#memory;
    const interpreter = build === "fast" ? this.#fast : this.#interpreter(build);
    while (session.depth >= 0) {
      // A frame counts its slices anew after each call, so calls look at the clock too.
      if (session.isOutOfTime?.()) {
        this.#abort({ kind: "timeout" });
        return;
      }
      let status = build === "fast" ? this.#runFast() : interpreter.run();
      if (status === exit.checkFailed) status = this.#interpreter("perOpcode").run();
      memory.refresh();
      switch (status) {
        case exit.call:
          enterCall(session);
          break;
        case exit.create: {
          const halt = create(session);
          if (halt) end(session, halted(halt));
          break;
        }
        case exit.selfDestruct:
          selfDestruct(session);
          end(session, EMPTY_SUCCESS);
          break;
        case exit.halt:
          this.#halt(build);
          break;
        default: {
          const outputSize = memory.get32(globals.outputSize);
          end(session, {
            outcome: status === exit.revert ? "revert" : "success",
            output: outputSize === 0 ? 0 : memory.get32(globals.output),
            outputSize,
          });
        }
      }
    }
  }

  /** Runs the frame in the faster of the tiers that have its code. */
  #runFast(): number {
    const code = this.#session.codeAt[this.#session.depth];
    if (this.#tier === undefined || code === undefined || this.#isInterpreted) return this.#fast.run();
    return this.#tier.run(code);
  }

  #halt(build: Build): void {
    const session = this.#session;
    const memory = this.#memory;
    const halt = haltOf(
      memory.get32(globals.halt),
      memory.get32(globals.haltDetail),
      memory.get32(globals.initCodeSizeMax),
    );
    if (build !== "fast" && memory.get32(globals.stepped) === 0) {
      if (build === "perOpcode" && !isFinal(halt)) {
        memory.set64(globals.stepCost, costOfHaltedStep(session, halt, this.#interpreter("perOpcode")));
      }
      // A jump that fails has moved on already: what stands there was not reached.
      if (build === "perOpcode" || halt.kind !== "invalidJump") notifyStep(session, halt);
    }
    // Out of time or memory ends everything, not only the frame.
    if (isFinal(halt)) this.#abort(halt);
    else end(session, halted(halt));
  }

  /** As `#abort`, also for a call that did not get as far as a frame. */
  #abortCall(halt: Halt): void {
    const session = this.#session;
    const frameResult = halted(halt);
    session.frameResult = frameResult;
    if (session.traced > session.depth + 1) endWithoutFrame(session, frameResult, "none");
    this.#abort(halt);
  }

  #abort(halt: Halt): void {
    while (this.#session.depth >= 0) end(this.#session, halted(halt));
  }

  #result(gasBeyond: bigint, withLogs: boolean): ExecutionResult {
    const session = this.#session;
    const memory = this.#memory;
    const { outcome, halt, output, outputSize } = session.frameResult;
    const succeeded = outcome === "success";
    if (succeeded) session.records.writeBack();
    if (session.touchedRipemd) session.state.touch(RIPEMD160);
    return {
      outcome,
      halt,
      returnData: memory.copy(output, outputSize),
      gasLeft: outcome === "halt" ? 0n : memory.get64(globals.gasBack) + gasBeyond,
      ...(session.rules.eip8037 && {
        reservoirLeft: memory.get64(globals.reservoir),
        spilled: memory.get64(globals.spilledBack),
      }),
      gasRefund: succeeded ? BigInt.asIntN(64, memory.get64(globals.refund)) : 0n,
      logs: succeeded && withLogs ? session.logs.take() : [],
      selfDestructs: succeeded ? session.records.selfDestructs() : [],
    };
  }

  #endTracing(): void {
    const { tracer, records } = this.#session;
    tracer?.frames?.end(records.lastingAddressOf());
  }

  #interpreter(build: Exclude<Build, "fast">): Interpreter {
    let interpreter = this.#traced.get(build);
    if (interpreter === undefined) {
      interpreter = createInterpreter(this.hardfork, build, this.#memory.memory, this.#host);
      this.#traced.set(build, interpreter);
    }
    return interpreter;
  }
}

/** The build that calls every step hook that `tracer` has. */
function tracedBuild(tracer: Tracer | undefined): Build {
  if (tracer?.onStep) return "perOpcode";
  return tracer?.onAccessStep ? "perAccess" : "fast";
}

function end(session: Session, frameResult: FrameResult): void {
  const opcode = session.memory.get32(frame.kind);
  if (opcode === CREATE || opcode === CREATE2) endCreation(session, frameResult);
  else popFrame(session, frameResult, frameResult.outcome === "success");
}

/** The limit that ended an execution in the middle of a call. */
function limitOf(error: unknown): "memoryLimit" | "timeout" | undefined {
  if (error instanceof LinearMemoryExhausted) return "memoryLimit";
  return error instanceof OutOfTime ? "timeout" : undefined;
}

function isFinal(halt: Halt): boolean {
  return halt.kind === "timeout" || halt.kind === "memoryLimit";
}

function warmSet(message: Message, precompiles: ReadonlyMap<Address, Precompile>): WarmSet {
  const { caller, warmAddresses, warmSlots } = message;
  const own = message.to ?? message.createAddress;
  const addresses = own ? [caller, own, ...warmAddresses] : [caller, ...warmAddresses];
  return {
    // Most are three: a set costs more than it saves.
    addresses: addresses.length <= LISTED_MAX ? addresses : new Set(addresses),
    precompiles,
    slots: warmSlots.length === 0 ? NO_SLOTS : slotsByAddress(warmSlots),
  };
}

function slotsByAddress(warmSlots: Message["warmSlots"]): WarmSet["slots"] {
  const slots = new Map<Address, Set<string>>();
  for (const [address, slot] of warmSlots) {
    const known = slots.get(address);
    if (known) known.add(slot);
    else slots.set(address, new Set([slot]));
  }
  return slots;
}
