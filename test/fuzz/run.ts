import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import { RULES_AT } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { concatBytes } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import type { BlockContext, Evm, Message } from "../../src/evm/machine/evm.ts";
import type { FrameStart, Step, Tracer } from "../../src/evm/machine/tracer.ts";
import type { StateReader } from "../../src/evm/state/reader.ts";
import { createWorldState, type WorldState } from "../../src/evm/state/world-state.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { assemble, type FuzzCase } from "./case.ts";

export const CALLER = `0x${"ca11".repeat(10)}` as Address;
export const COINBASE = `0x${"c01b".repeat(10)}` as Address;

const CALLER_ACCOUNT: GenesisAccount = { balance: 10n ** 18n, nonce: 1n };

/** Opcodes of one run that are compared one by one; a loop says nothing new. */
const STEPS_MAX = 3000;
const STOP = 0x00;
const SLOAD = 0x54;
const SSTORE = 0x55;
const SELFDESTRUCT = 0xff;
/** CALL, CALLCODE, DELEGATECALL, STATICCALL */
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);

/** Everything that has to be the same on two engines, as text for the eye and for comparison. */
export type Outcome = {
  readonly gasUsed: bigint;
  readonly facts: Readonly<Record<string, string>>;
  /** One line per opcode and one at the end of each frame; empty unless requested. */
  readonly steps: readonly string[];
};

/** A case made ready once for many executions: each begins with the same world. */
export type Scene = {
  readonly message: Message;
  readonly block: BlockContext;
  readonly base: StateReader;
};

export function sceneOf(fuzzCase: FuzzCase): Scene {
  return {
    message: messageOf(fuzzCase),
    block: blockOf(fuzzCase),
    base: createMemoryState(allocOf(fuzzCase.accounts).set(CALLER, CALLER_ACCOUNT)),
  };
}

/** Executes `scene` on `evm` with another gas where one is given. */
export function runScene(
  { message, block, base }: Scene,
  evm: Evm,
  options: { readonly gas?: bigint; readonly withSteps?: boolean } = {},
): Outcome {
  const state = createWorldState(base);
  const gas = options.gas ?? message.gas;
  const steps: string[] = [];
  const tracer = options.withSteps ? { tracer: recorder(steps) } : {};
  const result = evm.execute({ ...message, gas }, block, state, tracer);
  const { outcome, gasLeft, gasRefund, returnData, logs, selfDestructs } = result;
  state.finalizeTransaction({
    selfDestructs,
    deleteEmptyTouched: RULES_AT[block.hardfork].spuriousDragon,
  });
  return {
    gasUsed: gas - gasLeft,
    steps,
    facts: {
      outcome,
      gasLeft: gasLeft.toString(),
      gasRefund: gasRefund.toString(),
      returnData: bytesToHex(returnData),
      logs: logs.map(({ address, topics, data }) => [address, ...topics, bytesToHex(data)].join(" ")).join("\n"),
      selfDestructs: [...selfDestructs].sort().join(" "),
      state: describeState(state),
    },
  };
}

/** The first thing in which two outcomes differ, or undefined. An opcode that made its frame halt may be missing in one. */
export function difference(a: Outcome, b: Outcome): string | undefined {
  const isEnd = (i: number, j: number) => Math.max(i, j) === STEPS_MAX || (i >= a.steps.length && j >= b.steps.length);
  for (let i = 0, j = 0; !isEnd(i, j); ) {
    const [left, right] = [a.steps[i], b.steps[j]];
    if (left === right) {
      i++;
      j++;
    } else if (isBeforeHalt(a.steps, i)) i++;
    else if (isBeforeHalt(b.steps, j)) j++;
    else return `step ${i}:\n  ${left}\n  ${right}`;
  }
  for (const [name, value] of Object.entries(a.facts)) {
    if (value !== b.facts[name]) return `${name}:\n  ${value}\n  ${b.facts[name]}`;
  }
  return undefined;
}

function isBeforeHalt(steps: readonly string[], index: number): boolean {
  return steps[index + 1]?.startsWith("halt ") ?? false;
}

/** The world of a case before its execution. */
export function allocOf(accounts: FuzzCase["accounts"]): Map<Address, GenesisAccount> {
  const alloc = new Map<Address, GenesisAccount>();
  for (const { address, balance, nonce, code, storage } of accounts) {
    alloc.set(address, {
      balance: BigInt(balance),
      nonce: BigInt(nonce),
      code: assemble(code),
      storage: new Map(Object.entries(storage).map(([slot, value]) => [hashFromBigint(BigInt(slot)), BigInt(value)])),
    });
  }
  return alloc;
}

function messageOf(fuzzCase: FuzzCase): Message {
  const { hardfork, to, initCode, value, data, gas, accessList } = fuzzCase;
  return {
    to,
    // The caller's nonce was raised before the execution; the address is that of the nonce before.
    ...(to === null ? { createAddress: createAddress(CALLER, 0n) } : {}),
    caller: CALLER,
    origin: CALLER,
    value: BigInt(value),
    data: to === null ? concatBytes(assemble(initCode), hexToBytes(data)) : hexToBytes(data),
    gas: BigInt(gas),
    gasPrice: 1_000_000_007n,
    blobVersionedHashes: RULES_AT[hardfork].cancun ? [hashFromBigint(1n << 248n)] : [],
    warmAddresses: [...(RULES_AT[hardfork].shanghai ? [COINBASE] : []), ...accessList.map(({ address }) => address)],
    warmSlots: accessList.flatMap(({ address, slots }) =>
      slots.map((slot) => [address, hashFromBigint(BigInt(slot))] as const),
    ),
  };
}

/** The block every case is executed in. */
export function blockOf({ hardfork }: Pick<FuzzCase, "hardfork">): BlockContext {
  return {
    hardfork,
    chainId: 1337n,
    number: 1000,
    timestamp: 1_700_000_000,
    coinbase: COINBASE,
    gasLimit: 30_000_000n,
    difficulty: RULES_AT[hardfork].paris ? 0n : 131_072n,
    prevRandao: hashFromBigint(0xabcdef0123456789n),
    baseFeePerGas: 7n,
    blobBaseFee: 3n,
    blockHash: (number) => keccak256Hash(Uint8Array.of(number >> 8, number & 0xff)) as Hash,
  };
}

function describeState(state: WorldState): string {
  const { accounts } = state.changes();
  return accounts
    .map(({ address, account, storage }) => {
      const fields = account ? `nonce ${account.nonce} balance ${account.balance} code ${account.codeHash}` : "gone";
      // Slots of an account that is gone are gone with it, whichever engine lists them.
      const slots = account ? [...storage].map(([slot, value]) => `${slot}=${value}`).sort() : [];
      return [address, fields, ...slots].join(" ");
    })
    .sort()
    .join("\n");
}

/** Rejected before there was a frame: one of the engines does not report it. */
const REJECTIONS: ReadonlySet<string | undefined> = new Set(["callDepth", "insufficientBalance", "nonceOverflow"]);

/** A tracer that writes a line for each opcode and each beginning and end of a frame into `lines`. */
function recorder(lines: string[]): Tracer {
  const frames: { readonly type: FrameStart["type"]; readonly firstLine: number }[] = [];
  const write = (line: () => string) => {
    if (lines.length < STEPS_MAX) lines.push(line());
  };
  return {
    onStep(step) {
      // Engines report the failing opcode, and the STOP past the end of the code, differently: the rest must agree.
      if (step.opcode !== STOP && step.halt === undefined) write(() => describeStep(step));
    },
    onEnter(frame, depth) {
      const { type, from, to, value, gas, input } = frame;
      frames.push({ type, firstLine: lines.length });
      if (type === "SELFDESTRUCT") return;
      write(() => `${type} at depth ${depth} ${from} ${to} ${value} gas ${gas} ${bytesToHex(input)}`);
    },
    onExit({ outcome, halt, gasUsed, output }, depth) {
      const frame = frames.pop();
      if (frame?.type === "SELFDESTRUCT") return;
      if (depth > 0 && REJECTIONS.has(halt?.kind)) lines.length = frame?.firstLine ?? 0;
      else write(() => `${outcome} of depth ${depth}, gas ${gasUsed}, output ${bytesToHex(output)}`);
    },
  };
}

/**
 * All a struct log shows; but not what a call costs, which follows from the gas of the steps after it, nor the refund at
 * SELFDESTRUCT, which one engine gives before the step and the other after it.
 */
function describeStep(step: Step): string {
  const { pc, opcode, gas, gasCost, depth, address, refund } = step;
  const stack = step.stack();
  const top = stack.at(-1);
  const words = stack.map((word) => word.toString(16));
  const digest = (bytes: Uint8Array) => `${bytes.length} ${keccak256Hash(bytes).slice(2, 10)}`;
  const readsSlot = (opcode === SLOAD || opcode === SSTORE) && top !== undefined;
  return [
    `${depth} ${address} pc ${pc} op ${opcode.toString(16).padStart(2, "0")} gas ${gas}`,
    CALLS.has(opcode) ? "" : `cost ${gasCost}`,
    opcode === SELFDESTRUCT ? "" : `refund ${refund}`,
    `[${words.join(" ")}] memory ${digest(step.memory())}`,
    `return data ${digest(step.returnData())}`,
    readsSlot ? `slot ${step.storage(hashFromBigint(top))}` : "",
  ].join(" ");
}
