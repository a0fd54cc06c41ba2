import type { EVM, ExecResult, PrecompileInput } from "@ethereumjs/evm";
import { invariant } from "../../../src/base/errors.ts";
import { type Hardfork, RULES_AT } from "../../../src/base/params/hardforks.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../../../src/base/primitives/hash.ts";
import type { Log } from "../../../src/base/types/receipt.ts";
import type { BlockContext, Evm, ExecutionResult, Message } from "../../../src/evm/machine/evm.ts";
import type { Halt } from "../../../src/evm/machine/halts.ts";
import type { Precompile } from "../../../src/evm/machine/state-port.ts";
import { failureOf, haltOf } from "./halt.ts";
import { type LoadedLibrary, loadLibrary } from "./library.ts";
import { createStateManager } from "./state-manager.ts";
import { attachTracer } from "./trace.ts";

export type EthereumjsEvmOptions = {
  /** Precompiles of each fork that replace the library's at the same address; the library alone has no KZG. */
  readonly precompilesOf?: (hardfork: Hardfork) => ReadonlyMap<Address, Precompile>;
};

/** Thrown through the library to leave it; never seen outside this file. */
class Interrupt {
  readonly halt: Halt;
  constructor(halt: Halt) {
    this.halt = halt;
  }
}

const NO_PRECOMPILES: ReadonlyMap<Address, Precompile> = new Map();

/** Opcodes between two looks at the clock. */
const STEPS_PER_DEADLINE_CHECK = 256;

/**
 * @ethereumjs/evm as an adapter of our port: slow, and an independent opinion on what an execution gives.
 * Texts of halts are less exact than geth's: the library does not say how large a rejected code was or which reason an
 * out-of-gas had. `memoryBytesMax` is not watched; memory the host cannot give halts with "memoryLimit".
 */
export function createEthereumjsEvm(options: EthereumjsEvmOptions = {}): Evm {
  const library = loadLibrary();
  const { manager, begin } = createStateManager(library.util);
  const engines = new Map<string, EVM>();

  const engineFor = ({ hardfork, chainId }: BlockContext): EVM => {
    const key = `${hardfork} ${chainId}`;
    let engine = engines.get(key);
    if (engine === undefined) {
      const common = library.createCommon(chainId, hardfork);
      engine = createLibraryEvm(library, common, manager, options.precompilesOf?.(hardfork));
      engines.set(key, engine);
    }
    return engine;
  };

  return {
    execute(message, block, state, { tracer, precompiles, deadlineMs } = {}) {
      const engine = engineFor(block);
      const snapshot = state.snapshot();
      begin(state);
      engine.journal.cleanJournal();
      engine.transientStorage.clear();
      engine.blockchain = libraryBlockchain(block) as unknown as EVM["blockchain"];
      const ownPrecompiles = engine.precompiles;
      if (precompiles) setPrecompiles(engine, precompileFunctions(precompiles, library));
      const detach = tracer && attachTracer(engine, library, tracer, message, state);
      const { runStep } = library.Interpreter.prototype;
      if (deadlineMs !== undefined) watchDeadline(library, deadlineMs);
      warmUp(engine, message, block);
      try {
        const { execResult } = library.realm.run(() => engine.runCall(callOf(message, block, library)));
        return resultOf(execResult, message, block);
      } catch (error) {
        state.revertTo(snapshot);
        if (error instanceof Interrupt) return haltedResult(error.halt);
        if (error instanceof RangeError) return haltedResult({ kind: "memoryLimit" });
        throw error;
      } finally {
        library.Interpreter.prototype.runStep = runStep;
        detach?.();
        setPrecompiles(engine, ownPrecompiles);
      }
    },
  };
}

/** The library's EVM on `stateManager`, with `precompiles` instead of its own at the same addresses. */
export function createLibraryEvm(
  library: LoadedLibrary,
  common: EVM["common"],
  stateManager: EVM["stateManager"],
  precompiles: ReadonlyMap<Address, Precompile> = NO_PRECOMPILES,
): EVM {
  const engine = new library.EVM({ common, stateManager, bn254: new library.NobleBN254() });
  const given = precompileFunctions(precompiles, library);
  setPrecompiles(engine, new Map([...engine.precompiles, ...given]));
  return engine;
}

type RunCallOptions = Parameters<EVM["runCall"]>[0];

function callOf(
  { to, createAddress, caller, origin, value, data, gas, gasPrice, blobVersionedHashes }: Message,
  block: BlockContext,
  library: LoadedLibrary,
): RunCallOptions {
  const { util } = library;
  const libraryAddress = (address: Address) => new util.Address(addressToBytes(address));
  invariant(to !== null || createAddress, "a creation comes with its address");
  return {
    ...(to === null ? {} : { to: libraryAddress(to) }),
    caller: libraryAddress(caller),
    origin: libraryAddress(origin),
    value,
    data,
    gasLimit: gas,
    gasPrice,
    blobVersionedHashes: [...blobVersionedHashes],
    skipNonceIncrement: true,
    block: libraryBlock(block, library),
  };
}

/** What the library's EVM reads of a block. */
export function libraryBlock(block: BlockContext, { util }: LoadedLibrary) {
  return {
    header: {
      number: BigInt(block.number),
      timestamp: BigInt(block.timestamp),
      coinbase: new util.Address(addressToBytes(block.coinbase)),
      gasLimit: block.gasLimit,
      difficulty: block.difficulty,
      prevRandao: hashToBytes(block.prevRandao),
      baseFeePerGas: block.baseFeePerGas,
      getBlobGasPrice: () => block.blobBaseFee,
    },
  };
}

/** The library's view of the blocks before `block`. */
export function libraryBlockchain(block: BlockContext) {
  return {
    getBlock(number: number) {
      const hash = block.blockHash(number);
      return { hash: () => (hash ? hashToBytes(hash) : new Uint8Array(32)) };
    },
  };
}

/** EIP-2929: what is warm before the first opcode. */
function warmUp(engine: EVM, message: Message, { hardfork }: BlockContext): void {
  if (!RULES_AT[hardfork].berlin) return;
  const warm = (address: string) => engine.journal.addAlwaysWarmAddress(address);
  for (const address of engine.precompiles.keys()) warm(address);
  warm(message.caller);
  warm(message.to ?? message.createAddress ?? message.caller);
  for (const address of message.warmAddresses) warm(address);
  for (const [address, slot] of message.warmSlots) engine.journal.addAlwaysWarmSlot(address, slot);
}

function resultOf(result: ExecResult, message: Message, { hardfork }: BlockContext): ExecutionResult {
  const failure = failureOf(result.exceptionError, hardfork);
  if (failure && failure.error !== "revert") {
    return haltedResult(
      haltOf(failure, {
        opcode: result.runState?.opCode,
        stackLength: result.runState?.stack.length ?? 0,
      }),
    );
  }
  const gasLeft = message.gas - result.executionGasUsed;
  const returnData = Uint8Array.from(result.returnValue);
  if (failure) {
    return {
      outcome: "revert",
      returnData,
      gasLeft,
      gasRefund: 0n,
      logs: [],
      selfDestructs: [],
    };
  }
  return {
    outcome: "success",
    returnData: result.exceptionError ? EMPTY_BYTES : returnData,
    gasLeft,
    gasRefund: result.gasRefund ?? 0n,
    logs: (result.logs ?? []).map(logOf),
    selfDestructs: selfDestructsOf(result, hardfork),
  };
}

function haltedResult(halt: Halt): ExecutionResult {
  return {
    outcome: "halt",
    halt,
    returnData: EMPTY_BYTES,
    gasLeft: 0n,
    gasRefund: 0n,
    logs: [],
    selfDestructs: [],
  };
}

/** A log in our words. */
export function logOf([address, topics, data]: readonly [Uint8Array, readonly Uint8Array[], Uint8Array]): Log {
  return {
    address: addressFromBytes(address),
    topics: topics.map(hashFromBytes),
    data: Uint8Array.from(data),
  };
}

function selfDestructsOf({ selfdestruct, createdAddresses }: ExecResult, hardfork: Hardfork): Address[] {
  const all = [...(selfdestruct?.keys() ?? [])] as Address[];
  if (!RULES_AT[hardfork].cancun) return all;
  return all.filter((address) => createdAddresses?.has(address));
}

function precompileFunctions(
  precompiles: ReadonlyMap<Address, Precompile>,
  { EVMError }: LoadedLibrary,
): EVM["precompiles"] {
  const functions: EVM["precompiles"] = new Map();
  for (const [address, { gas, run }] of precompiles) {
    functions.set(address.slice(2), ({ data, gasLimit }: PrecompileInput): ExecResult => {
      const cost = gas(data);
      const fail = (reason: string) => ({
        executionGasUsed: gasLimit,
        returnValue: EMPTY_BYTES,
        // The library has a fixed set of words for errors but never looks them up.
        exceptionError: new EVMError(reason as EVMErrorWord),
      });
      if (cost > gasLimit) return fail("out of gas");
      const output = run(data);
      return output instanceof Uint8Array ? { executionGasUsed: cost, returnValue: output } : fail(output.reason);
    });
  }
  return functions;
}

type EVMErrorWord = ConstructorParameters<LoadedLibrary["EVMError"]>[0];

/** The library keeps its precompiles in a protected field and offers no other way to exchange them. */
function setPrecompiles(engine: EVM, precompiles: EVM["precompiles"]): void {
  (engine as unknown as { _precompiles: EVM["precompiles"] })._precompiles = precompiles;
}

function watchDeadline({ Interpreter }: LoadedLibrary, deadlineMs: number): void {
  const { runStep } = Interpreter.prototype;
  let steps = 0;
  Interpreter.prototype.runStep = function (this: unknown, entry: unknown) {
    if (steps++ % STEPS_PER_DEADLINE_CHECK === 0 && performance.now() > deadlineMs) {
      throw new Interrupt({ kind: "timeout" });
    }
    return runStep.call(this as never, entry);
  };
}
