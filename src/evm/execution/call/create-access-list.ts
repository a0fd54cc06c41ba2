import { AUTHORIZATION_GAS } from "../../../base/params/gas.ts";
import { RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, addressFromWord } from "../../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { buildTransaction } from "../../../base/types/transaction/encode.ts";
import type { AccessList } from "../../../base/types/transaction/transaction.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import { haltText } from "../../machine/halts.ts";
import type { AccessStep, Tracer } from "../../machine/tracer.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import { createWorldState } from "../../state/world-state.ts";
import { InvalidTransactionError } from "../errors.ts";
import type { CallResult } from "../transaction/apply-message.ts";
import { authoritiesOf } from "../transaction/authorizations.ts";
import { type CallModules, type CallOptions, type CallTarget, type PreparedCall, prepareCall } from "./call.ts";
import {
  type CallArguments,
  InvalidCallArgumentsError,
  transactionFieldsOf,
  withFeeDefaults,
} from "./call-arguments.ts";
import { CallRefusedError, ExecutionTimeoutError, UnstableAccessListError } from "./call-errors.ts";
import { applyStateOverrides, type StateOverrides } from "./overrides.ts";

export type AccessListOptions = Omit<CallOptions, "tracer" | "blockOverrides"> & {
  /** The tip for a call that names none, in wei. */
  readonly suggestTip: () => bigint;
};

type CreatedAccessList = {
  /** Sorted by address, keys sorted. */
  readonly accessList: AccessList;
  /** Units, with the list attached. */
  readonly gasUsed: bigint;
  /** The reason if the call failed; the list then covers the part that ran. */
  readonly error?: string;
};

/** Slots by address. */
type Accesses = Map<Address, Set<Hash>>;

/**
 * eth_createAccessList: what the call accesses beyond what is warm anyway, found by running it with its own list until that
 * stays the same.
 * @throws InvalidCallArgumentsError, InvalidStateOverridesError, CallRefusedError, UnstableAccessListError
 */
export function createAccessList(
  args: CallArguments,
  target: CallTarget,
  modules: CallModules,
  options: AccessListOptions,
): CreatedAccessList {
  const { suggestTip, stateOverrides, ...callOptions } = options;
  const on = stateOverrides ? { ...target, state: overriddenState(target.state, stateOverrides) } : target;
  // A call without any fee costs nothing: its sender need not have ether.
  const priced = namesFee(args) ? withFeeDefaults(args, target.header, modules.config, suggestTip) : args;
  let accesses: Accesses = new Map();
  let excluded: ReadonlySet<Address> = new Set();
  const tracer: Tracer = {
    // Steps and not accesses: an opcode that runs out of gas belongs to the list, a delegation's target does not.
    onAccessStep(step) {
      const access = accessOfStep(step);
      if (access) record(accesses, access.address, access.slot, excluded);
    },
  };
  const prepared = prepareCall(priced, on, modules, { ...callOptions, tracer, isTransaction: true });
  const { message, state } = prepared;
  const nonce = priced.nonce ?? (state.account(message.from) ?? EMPTY_ACCOUNT).nonce;
  const complete = { ...priced, nonce, gas: message.gasLimit };
  excluded = excludedAddresses(prepared, nonce, options.timeoutMs);

  let accessList = listOf(accessesOf(args.accessList ?? [], excluded));
  // A run starts without slots of the target, as in geth, so a list can shrink and come back. Brent's algorithm finds that in a few times the runs of a cycle.
  let [earlier, replacedAfter] = [accessList, 1];
  for (let runs = 1; ; runs++) {
    accesses = accessesOf(accessList, excluded);
    const result = runWithList(prepared, { ...complete, accessList });
    const next = listOf(accesses);
    if (isSameList(next, accessList)) return withError(accessList, result, options.timeoutMs);
    if (isSameList(next, earlier)) throw new UnstableAccessListError();
    if (runs === replacedAfter) [earlier, replacedAfter] = [next, 2 * runs];
    accessList = next;
  }
}

function namesFee({ gasPrice, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas }: CallArguments): boolean {
  return [gasPrice, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas].some((fee) => fee !== undefined);
}

/** @throws InvalidStateOverridesError, for moves of precompiles too: geth knows none of them here */
function overriddenState(state: StateReader, overrides: StateOverrides): StateReader {
  const world = createWorldState(state);
  applyStateOverrides(overrides, world, new Map());
  return world.asReader();
}

function runWithList(prepared: PreparedCall, args: CallArguments): CallResult {
  try {
    return prepared.run({ ...prepared.message, accessList: args.accessList ?? [] });
  } catch (error) {
    if (!(error instanceof InvalidTransactionError)) throw error;
    // The type that geth names the failed transaction by.
    const isMarket = RULES_AT[prepared.block.hardfork].london;
    const priced = isMarket ? args : { ...args, gasPrice: args.gasPrice ?? 0n };
    const fields = transactionFieldsOf(priced, prepared.block.chainId, isMarket ? 2 : 0);
    const { hash } = buildTransaction(fields, { v: 0n, r: 0n, s: 0n });
    const text = `failed to apply transaction: ${hash} err: ${error.message}`;
    throw new CallRefusedError(text, { reason: error.code }, { cause: error });
  }
}

function withError(accessList: AccessList, { outcome, halt, gasUsed }: CallResult, timeoutMs = 0): CreatedAccessList {
  if (halt?.kind === "timeout") throw new ExecutionTimeoutError(timeoutMs);
  const error = outcome === "revert" ? "execution reverted" : halt && haltText(halt);
  return { accessList, gasUsed, ...(error !== undefined && { error }) };
}

/** Warm in every transaction, or of no use in a list: sender, target, precompiles, authorities. */
function excludedAddresses(
  { message, block, precompiles, deadlineMs }: PreparedCall,
  nonce: bigint,
  timeoutMs = 0,
): ReadonlySet<Address> {
  const { from, to, authorizationList = [], gasLimit } = message;
  if (BigInt(authorizationList.length) > gasLimit / AUTHORIZATION_GAS) {
    throw new InvalidCallArgumentsError("insufficient gas to process all authorizations");
  }
  const authorities = authoritiesOf(authorizationList, { chainId: block.chainId, deadlineMs });
  if (authorities === undefined) throw new ExecutionTimeoutError(timeoutMs);
  const target = to ?? createAddress(from, nonce);
  return new Set([from, target, ...precompiles.keys(), ...authorities]);
}

/** An excluded address comes in only with its slots. */
function record(accesses: Accesses, address: Address, slot: Hash | null, excluded: ReadonlySet<Address>): void {
  if (slot === null && excluded.has(address)) return;
  let slots = accesses.get(address);
  if (!slots) {
    slots = new Set();
    accesses.set(address, slots);
  }
  if (slot !== null) slots.add(slot);
}

function accessesOf(list: AccessList, excluded: ReadonlySet<Address>): Accesses {
  const accesses: Accesses = new Map();
  for (const { address, storageKeys } of list) {
    if (excluded.has(address)) continue;
    record(accesses, address, null, excluded);
    for (const slot of storageKeys) record(accesses, address, slot, excluded);
  }
  return accesses;
}

function listOf(accesses: Accesses): AccessList {
  return [...accesses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, slots]) => ({ address, storageKeys: [...slots].sort() }));
}

/** Of sorted lists. */
function isSameList(a: AccessList, b: AccessList): boolean {
  const isSame = <T>(some: readonly T[], others: readonly T[], isSameItem: (item: T, other: T) => boolean) =>
    some.length === others.length && some.every((item, i) => isSameItem(item, others[i]!));
  return isSame(a, b, (entry, other) => {
    if (entry.address !== other.address) return false;
    return isSame(entry.storageKeys, other.storageKeys, (key, otherKey) => key === otherKey);
  });
}

/** What one opcode names: an account, or a slot of the account that runs. */
type StepAccess = {
  readonly address: Address;
  readonly slot: Hash | null;
  /** A call of `address`. */
  readonly isCall: boolean;
};

const [SLOAD, SSTORE] = [0x54, 0x55];
/** BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH, SELFDESTRUCT: the address is on top. */
const ACCOUNT_ON_TOP: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff]);
/** CALL, CALLCODE, DELEGATECALL, STATICCALL: the address is below the gas. */
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
/** geth's tracers look at a call only with that many words, fewer than CALL takes. */
const CALL_WORDS_MIN = 5;

/** The account or slot that `step` accesses, if its stack holds it; also of an opcode that fails. */
export function accessOfStep(step: AccessStep): StepAccess | undefined {
  const { opcode, stackHeight } = step;
  if (opcode === SLOAD || opcode === SSTORE) {
    if (stackHeight === 0) return undefined;
    return { address: step.address, slot: hashFromBigint(step.operand(0)), isCall: false };
  }
  if (ACCOUNT_ON_TOP.has(opcode)) {
    if (stackHeight === 0) return undefined;
    return { address: addressFromWord(step.operand(0)), slot: null, isCall: false };
  }
  if (!CALLS.has(opcode) || stackHeight < CALL_WORDS_MIN) return undefined;
  return { address: addressFromWord(step.operand(1)), slot: null, isCall: true };
}
