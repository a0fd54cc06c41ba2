import type { BlockContext, Evm, Message } from "../../src/evm/evm.ts";
import type { Step } from "../../src/evm/tracer.ts";
import { contractAddress } from "../../src/execution/contract-address.ts";
import type { GenesisAccount } from "../../src/params/genesis.ts";
import { isAtLeast } from "../../src/params/hardforks.ts";
import type { Address } from "../../src/primitives/address.ts";
import { concatBytes } from "../../src/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../src/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/primitives/hex.ts";
import { keccak256Hash } from "../../src/primitives/keccak.ts";
import { createMemoryState } from "../../src/state/memory-state.ts";
import type { StateReader } from "../../src/state/reader.ts";
import { createWorldState, type WorldState } from "../../src/state/world-state.ts";
import { assemble, type FuzzCase } from "./case.ts";

export const CALLER = `0x${"ca11".repeat(10)}` as Address;
export const COINBASE = `0x${"c01b".repeat(10)}` as Address;

/** Opcodes of one run that are compared one by one; a loop says nothing new. */
const STEPS_MAX = 3000;
const STOP = 0x00;

/** Everything that has to be the same on two engines, as text for the eye and for comparison. */
export type Outcome = {
  readonly gasUsed: bigint;
  readonly facts: Readonly<Record<string, string>>;
  /** One line an opcode; empty unless asked for. */
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
    base: createMemoryState(allocOf(fuzzCase)),
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
  const tracer = options.withSteps ? { tracer: { onStep: (step: Step) => keep(step, steps) } } : {};
  const result = evm.execute({ ...message, gas }, block, state, tracer);
  const { outcome, gasLeft, gasRefund, returnData, logs, selfDestructs } = result;
  state.finalizeTransaction({
    selfDestructs,
    deleteEmptyTouched: isAtLeast(block.hardfork, "spuriousDragon"),
  });
  return {
    gasUsed: gas - gasLeft,
    steps,
    facts: {
      outcome,
      gasLeft: gasLeft.toString(),
      gasRefund: gasRefund.toString(),
      returnData: bytesToHex(returnData),
      logs: logs
        .map(({ address, topics, data }) => [address, ...topics, bytesToHex(data)].join(" "))
        .join("\n"),
      selfDestructs: [...selfDestructs].sort().join(" "),
      state: describeState(state),
    },
  };
}

/** The first thing in which two outcomes differ, or undefined. The last step of a frame may be missing in one: an opcode that failed. */
export function difference(a: Outcome, b: Outcome): string | undefined {
  const isEnd = (i: number, j: number) =>
    Math.max(i, j) === STEPS_MAX || (i >= a.steps.length && j >= b.steps.length);
  for (let i = 0, j = 0; !isEnd(i, j); ) {
    const [left, right] = [a.steps[i], b.steps[j]];
    if (left === right) {
      i++;
      j++;
    } else if (left !== undefined && endsFrame(a.steps, i)) i++;
    else if (right !== undefined && endsFrame(b.steps, j)) j++;
    else return `step ${i}:\n  ${left}\n  ${right}`;
  }
  for (const [name, value] of Object.entries(a.facts)) {
    if (value !== b.facts[name]) return `${name}:\n  ${value}\n  ${b.facts[name]}`;
  }
  return undefined;
}

/** True when the step after the one at `index` is the caller's, or there is none. */
function endsFrame(steps: readonly string[], index: number): boolean {
  const next = steps[index + 1];
  return next === undefined || Number.parseInt(next, 10) < Number.parseInt(steps[index]!, 10);
}

function allocOf({ accounts }: FuzzCase): ReadonlyMap<Address, GenesisAccount> {
  const alloc = new Map<Address, GenesisAccount>([[CALLER, { balance: 10n ** 18n, nonce: 1n }]]);
  for (const { address, balance, nonce, code, storage } of accounts) {
    alloc.set(address, {
      balance: BigInt(balance),
      nonce: BigInt(nonce),
      code: assemble(code),
      storage: new Map(
        Object.entries(storage).map(([slot, value]) => [
          hashFromBigint(BigInt(slot)),
          BigInt(value),
        ]),
      ),
    });
  }
  return alloc;
}

function messageOf(fuzzCase: FuzzCase): Message {
  const { hardfork, to, initCode, value, data, gas, accessList } = fuzzCase;
  return {
    to,
    // The caller's nonce was raised before the execution; the address is that of the nonce before.
    ...(to === null ? { createAddress: contractAddress(CALLER, 0n) } : {}),
    caller: CALLER,
    origin: CALLER,
    value: BigInt(value),
    data: to === null ? concatBytes(assemble(initCode), hexToBytes(data)) : hexToBytes(data),
    gas: BigInt(gas),
    gasPrice: 1_000_000_007n,
    blobVersionedHashes: isAtLeast(hardfork, "cancun") ? [hashFromBigint(1n << 248n)] : [],
    warmAddresses: [
      ...(isAtLeast(hardfork, "shanghai") ? [COINBASE] : []),
      ...accessList.map(({ address }) => address),
    ],
    warmSlots: accessList.flatMap(({ address, slots }) =>
      slots.map((slot) => [address, hashFromBigint(BigInt(slot))] as const),
    ),
  };
}

function blockOf({ hardfork }: FuzzCase): BlockContext {
  return {
    hardfork,
    chainId: 1337n,
    number: 1000,
    timestamp: 1_700_000_000,
    coinbase: COINBASE,
    gasLimit: 30_000_000n,
    difficulty: isAtLeast(hardfork, "paris") ? 0n : 131_072n,
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
      const fields = account
        ? `nonce ${account.nonce} balance ${account.balance} code ${account.codeHash}`
        : "gone";
      // Slots of an account that is gone are gone with it, whoever lists them.
      const slots = account ? [...storage].map(([slot, value]) => `${slot}=${value}`).sort() : [];
      return [address, fields, ...slots].join(" ");
    })
    .sort()
    .join("\n");
}

function keep(step: Step, steps: string[]): void {
  // Engines tell the opcode that fails, and the STOP behind the end of code, in ways of their own: what follows has to agree.
  const isPlain = step.opcode !== STOP && step.halt === undefined;
  if (isPlain && steps.length < STEPS_MAX) steps.push(describeStep(step));
}

function describeStep(step: Step): string {
  const { pc, opcode, gas, depth, address } = step;
  const words = step.stack().map((word) => word.toString(16));
  const hash = keccak256Hash(step.memory()).slice(2, 10);
  const code = opcode.toString(16).padStart(2, "0");
  return `${depth} ${address} pc ${pc} op ${code} gas ${gas} [${words.join(" ")}] memory ${hash}`;
}
