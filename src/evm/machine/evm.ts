import type { ExecutionLimits } from "../../base/params/execution-limits.ts";
import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Log } from "../../base/types/receipt.ts";
import type { Halt } from "./halts.ts";
import type { Precompile, State } from "./state-port.ts";
import type { Tracer } from "./tracer.ts";

/** The one entry of `evm/`: run a top-level message call or contract creation. */
export interface Evm {
  /**
   * Runs `message` to its end. On success every change is in `state`; on a revert or halt `state` is as before.
   * Taken as done by the caller: gas bought, nonce of the sender raised, 7702 authorizations applied.
   * Done here: transfer of `value`, for a creation the collision check, nonce 1, code deposit; for a call from
   * Prague on the delegation (EIP-7702) of `to` is followed.
   * Not done here: deletion of `selfDestructs` and of empty touched accounts, refund cap, fees: `execution/` does it.
   * Original values for SSTORE (EIP-2200) are those `state` holds at the call of `execute`.
   */
  execute(message: Message, block: BlockContext, state: State, options?: ExecuteOptions): ExecutionResult;
}

export type Message = {
  /** null: create a contract at `createAddress` with `data` as init code */
  readonly to: Address | null;
  /** Needed when `to` is null: computed from the sender's nonce by the caller. */
  readonly createAddress?: Address;
  readonly caller: Address;
  /** ORIGIN */
  readonly origin: Address;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Gas for execution, intrinsic gas already taken off. */
  readonly gas: bigint;
  /** EIP-8037: additional gas that pays only for state growth; 0n unless given. */
  readonly reservoir?: bigint | undefined;
  /** What precedes the first frame could not be paid (EIP-2780): it halts before it begins, and tracers see it do so. */
  readonly isUnpaid?: boolean;
  /** GASPRICE: the effective price in wei */
  readonly gasPrice: bigint;
  /** EIP-4844 */
  readonly blobVersionedHashes: readonly Hash[];
  /**
   * Warm from the start (EIP-2929, 2930, 3651, 7702) besides `caller`, `to` or `createAddress` and the precompiles, which the
   * engine adds itself: access list, coinbase from Shanghai, recovered authorities and the delegation target of `to`.
   */
  readonly warmAddresses: readonly Address[];
  readonly warmSlots: readonly (readonly [address: Address, slot: Hash])[];
};

export type BlockContext = ExecutionLimits & {
  readonly hardfork: Hardfork;
  readonly chainId: bigint;
  readonly number: number;
  readonly timestamp: number;
  /** What NUMBER and TIMESTAMP push where a call overrides them with more than a chain can have. */
  readonly numberWord?: bigint;
  readonly timestampWord?: bigint;
  readonly coinbase: Address;
  readonly gasLimit: bigint;
  /** DIFFICULTY before Paris */
  readonly difficulty: bigint;
  /** PREVRANDAO from Paris */
  readonly prevRandao: Hash;
  readonly baseFeePerGas: bigint;
  /** BLOBBASEFEE in wei */
  readonly blobBaseFee: bigint;
  /** SLOTNUM, from Amsterdam */
  readonly slotNumber?: bigint;
  /** Hash of one of the 256 blocks before this one; the engine checks the range. */
  blockHash(number: number): Hash | undefined;
};

export type ExecuteOptions = {
  readonly tracer?: Tracer | undefined;
  /** Precompiles by address that replace the fork's own (state overrides of eth_call). */
  readonly precompiles?: ReadonlyMap<Address, Precompile> | undefined;
  /** Time on the clock of the engine (`performance.now()`) after which execution halts with "timeout". */
  readonly deadlineMs?: number | undefined;
  /** Bytes of memory all frames may use together; beyond it execution halts with "memoryLimit". */
  readonly memoryBytesMax?: number | undefined;
  /** Runs all code in the interpreter, and does not count it as hot. */
  readonly isInterpreted?: boolean;
  /**
   * Called for each account and slot that the execution looks at, also where it is undone afterwards; some are repeated (EIP-7928). Not
   * for what the caller looks at itself: sender, recipient and coinbase of a transaction.
   */
  readonly onAccess?: ((address: Address, slot: Hash | undefined) => void) | undefined;
  /** Leaves logs out of the result, for a caller that does not read them. A tracer still sees them. */
  readonly withoutLogs?: boolean;
};

export type ExecutionResult = {
  readonly outcome: "success" | "revert" | "halt";
  /** Present when `outcome` is "halt". */
  readonly halt?: Halt | undefined;
  /** Return data, revert data, the deployed code of a creation, or empty for a halt. Owned by the caller. */
  readonly returnData: Uint8Array;
  /** Gas left of `message.gas`; 0 for a halt. */
  readonly gasLeft: bigint;
  /** Left of `message.reservoir`; all of it unless success. Present from Amsterdam, as the next. */
  readonly reservoirLeft?: bigint;
  /** Units of `message.gas` that paid for growth of the state, and that are not in `gasLeft` (EIP-8037). */
  readonly spilled?: bigint;
  /** The refund counter, not yet capped; 0 unless success. Never negative. */
  readonly gasRefund: bigint;
  readonly logs: readonly Log[];
  /** Accounts to delete at the end of the transaction; from Cancun only those created in it (EIP-6780). */
  readonly selfDestructs: readonly Address[];
};
