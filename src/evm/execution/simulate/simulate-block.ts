import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../../base/params/fees.ts";
import { hardforkAt, isMergePlannedAt, RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Log } from "../../../base/types/receipt.ts";
import { buildTransaction } from "../../../base/types/transaction/encode.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { transferLog } from "../../../base/types/transfer-log.ts";
import type { BlockContext } from "../../machine/evm.ts";
import { haltText } from "../../machine/halts.ts";
import { precompilesAt } from "../../machine/precompiles/index.ts";
import type { Precompile } from "../../machine/state-port.ts";
import type { Tracer } from "../../machine/tracer.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import { BlockExecution, type ExecutionModules } from "../block/block-execution.ts";
import { sealBlock } from "../block/build-block.ts";
import { type BlockHashes, blockContextOf, type OpenHeader } from "../block-context.ts";
import type { GasBudget } from "../call/call.ts";
import { type CallArguments, messageFromCall, transactionFieldsOf } from "../call/call-arguments.ts";
import { revertText, timeoutText } from "../call/call-errors.ts";
import { applyStateOverrides, InvalidBlockOverridesError } from "../call/overrides.ts";
import { InvalidTransactionError } from "../errors.ts";
import type { ApplyMessageOptions, MessageResult } from "../transaction/apply-message.ts";
import { type PlannedBlock, refusedCall, SimulationError } from "./simulate-plan.ts";

/** What one call of a simulation came to. */
export type SimulatedCall = {
  readonly returnData: Uint8Array;
  readonly logs: readonly SimulatedLog[];
  readonly gasUsed: bigint;
  /** Before the refund */
  readonly maxUsedGas: bigint;
  /** Present when the call failed; `data` when its code reverted. */
  readonly failure?: { readonly message: string; readonly data?: Uint8Array };
};

export type SimulationOptions = {
  /** Holds nonces and fees against the rules for transactions. */
  readonly validation: boolean;
  /** Logs each transfer of ether. */
  readonly traceTransfers: boolean;
  /** Units for all calls together; 0: no limit */
  readonly gasCap: bigint;
  /** Milliseconds for all calls together */
  readonly timeoutMs?: number;
  readonly memoryBytesMax?: number;
};

/** What all blocks of one simulation share. */
type SimulationRun = {
  readonly modules: ExecutionModules;
  /** Goes on from block to block. */
  readonly state: WorldState;
  readonly baseRoot: Hash;
  readonly budget: GasBudget;
  readonly options: SimulationOptions;
  /** `performance.now()` at which it is given up */
  readonly deadlineMs: number | undefined;
};

type SimulationParent = {
  readonly hash: Hash;
  readonly header: Header;
  readonly blockHash: BlockHashes;
};

/** No block is too small for the blobs of a simulation: geth does not count them. */
const BLOB_GAS_UNLIMITED = 2n ** 64n;

/** Executes one block of a simulation after `parent`. */
export function simulateBlock(
  planned: PlannedBlock,
  parent: SimulationParent,
  run: SimulationRun,
): { readonly executed: ExecutedBlock; readonly calls: readonly SimulatedCall[] } {
  const { blockOverrides = {}, stateOverrides, calls } = planned;
  const { modules, state } = run;
  const header = openHeader(planned, parent, run);
  const real = blockContextOf(header, modules.config, parent.blockHash);
  const context = { ...real, blobBaseFee: blockOverrides.blobBaseFee ?? real.blobBaseFee };
  const ownPrecompiles = precompilesAt(context.hardfork);
  const precompiles = stateOverrides ? applyStateOverrides(stateOverrides, state, ownPrecompiles) : ownPrecompiles;
  const execution = new BlockExecution(
    { context, state, baseRoot: run.baseRoot, blobGasMax: BLOB_GAS_UNLIMITED },
    header,
    modules,
  );
  const place = {
    header,
    context,
    execution,
    run,
    precompiles: precompiles === ownPrecompiles ? undefined : precompiles,
    // From Amsterdam on, transfers emit logs themselves (EIP-7708).
    collector: createLogCollector(run.options.traceTransfers && !RULES_AT[context.hardfork].amsterdam),
  };
  const transactions: Transaction[] = [];
  const results = calls.map((call) => {
    const { tx, result } = simulateCall(call, place);
    transactions.push(tx);
    return result;
  });
  const isShanghai = RULES_AT[context.hardfork].shanghai;
  if (!isShanghai && blockOverrides.withdrawals && blockOverrides.withdrawals.length > 0) {
    throw new InvalidBlockOverridesError(
      header.difficulty === 0n ? "withdrawals set before Shanghai activation" : "ethash does not support withdrawals",
    );
  }
  const withdrawals = isShanghai ? (blockOverrides.withdrawals ?? []) : undefined;
  const outcome = execution.finish(withdrawals ? { withdrawals } : {});
  const content = {
    transactions,
    extraData: EMPTY_BYTES,
    ...(withdrawals && { withdrawals }),
  };
  return { executed: sealBlock(header, content, outcome), calls: results };
}

/** The header as the request and the rules have it before the first call. */
function openHeader(
  { number, timestamp, blockOverrides = {} }: PlannedBlock,
  parent: SimulationParent,
  { modules: { config }, options }: SimulationRun,
): OpenHeader {
  const { header: before } = parent;
  const ruledDifficulty = isMergePlannedAt(config, number, timestamp) ? 0n : before.difficulty;
  if (blockOverrides.difficulty !== undefined && ruledDifficulty === 0n) {
    throw new SimulationError(
      "SIMULATE_DIFFICULTY_AFTER_MERGE",
      `block ${number}: difficulty override is not allowed after the merge`,
    );
  }
  const difficulty = blockOverrides.difficulty ?? ruledDifficulty;
  const hardfork = hardforkAt(config, { number, timestamp, difficulty });
  const blobParams = blobParamsAt(config, timestamp);
  const isLondon = RULES_AT[hardfork].london;
  const ruledBaseFee = options.validation ? nextBaseFee(before, config) : 0n;
  return {
    number,
    timestamp,
    difficulty,
    parentHash: parent.hash,
    coinbase: blockOverrides.feeRecipient ?? before.coinbase,
    gasLimit: blockOverrides.gasLimit ?? before.gasLimit,
    mixHash: blockOverrides.prevRandao ?? ZERO_HASH,
    ...(isLondon && { baseFeePerGas: blockOverrides.baseFeePerGas ?? ruledBaseFee }),
    ...(RULES_AT[hardfork].cancun &&
      blobParams && {
        excessBlobGas: nextExcessBlobGas(before, blobParams, RULES_AT[hardfork].osaka),
        parentBeaconBlockRoot: blockOverrides.beaconRoot ?? ZERO_HASH,
      }),
    // As in geth, a block that crosses the fork has none, unlike blocks of chains.
    ...(RULES_AT[hardfork].amsterdam && before.slotNumber !== undefined && { slotNumber: before.slotNumber + 1n }),
  };
}

/** A block of a simulation whose calls are being made. */
type OpenBlock = {
  readonly header: OpenHeader;
  readonly context: BlockContext;
  readonly execution: BlockExecution;
  /** Present where overrides moved or removed some. */
  readonly precompiles: ReadonlyMap<Address, Precompile> | undefined;
  readonly collector: LogCollector;
  readonly run: SimulationRun;
};

function simulateCall(
  args: CallArguments,
  block: OpenBlock,
): { readonly tx: Transaction; readonly result: SimulatedCall } {
  const { context, execution, run, collector } = block;
  const { args: complete, isCapped } = completeCall(args, block);
  const { chainId } = context;
  const { baseFeePerGas } = block.header;
  const message = messageFromCall(complete, { chainId, baseFeePerGas, gasCap: 0n });
  const tx = unsignedTransaction(complete, context);
  try {
    const { result } = execution.addMessage(tx, message, optionsOf(block));
    run.budget.use(result.gasUsed);
    if (result.halt?.kind === "timeout") throwTimeout(run, message.gasLimit);
    return { tx, result: callResultOf(result, collector.take(), isCapped) };
  } catch (error) {
    if (!(error instanceof InvalidTransactionError)) throw error;
    throw refusedCall(error, message.gasLimit);
  }
}

/** The call with nonce and gas, and whether the budget made the gas less. */
function completeCall(
  args: CallArguments,
  { context, execution, run: { state, budget, options } }: OpenBlock,
): { readonly args: CallArguments & { readonly gas: bigint }; readonly isCapped: boolean } {
  const nonce = args.nonce ?? (state.account(args.from ?? ZERO_ADDRESS) ?? EMPTY_ACCOUNT).nonce;
  const gasLeft = execution.gasLeft({ isGasWhole: !options.validation });
  const gas = args.gas ?? gasLeft;
  if (gas > gasLeft) {
    throw new SimulationError(
      "SIMULATE_BLOCK_GAS_LIMIT_REACHED",
      `block gas limit reached: remaining: ${gasLeft}, required: ${gas}`,
      { remaining: gasLeft, required: gas },
    );
  }
  const capped = budget.cap(gas);
  const complete = { ...args, nonce, gas: capped };
  const needsPrice = !RULES_AT[context.hardfork].london && args.gasPrice === undefined;
  return { args: needsPrice ? withoutFeeCaps(complete) : complete, isCapped: capped < gas };
}

/** Before London there is only the old price, and the caps of EIP-1559 say nothing of it: it is 0, as in geth. */
function withoutFeeCaps<Args extends CallArguments>(args: Args) {
  const { maxFeePerGas: _cap, maxPriorityFeePerGas: _tip, ...rest } = args;
  return { ...rest, gasPrice: 0n };
}

/** The unsigned transaction that represents the call in the block. */
function unsignedTransaction(args: CallArguments, { chainId }: BlockContext): Transaction {
  const fields = transactionFieldsOf(args, chainId, 2);
  if (fields.to === null && fields.type >= 3) {
    throw new SimulationError("SIMULATE_CALL_FAILED", `missing "to" in a transaction of type ${fields.type}`);
  }
  return buildTransaction(fields, { v: 0n, r: 0n, s: 0n });
}

function optionsOf({ precompiles, collector, run }: OpenBlock): ApplyMessageOptions {
  const { options, deadlineMs } = run;
  const { validation, memoryBytesMax } = options;
  return {
    checks: {
      skipNonce: !validation,
      skipTransactionChecks: true,
      noBaseFee: !validation,
      isGasWhole: !validation,
    },
    tracer: collector.tracer,
    ...(precompiles && { precompiles }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(memoryBytesMax !== undefined && { memoryBytesMax }),
  };
}

function callResultOf(
  { outcome, halt, returnData, gasUsed, maxUsedGas }: MessageResult,
  logs: readonly SimulatedLog[],
  isCapped: boolean,
): SimulatedCall {
  if (outcome === "success") return { returnData, logs, gasUsed, maxUsedGas };
  const failed = { returnData: EMPTY_BYTES, logs: [], gasUsed, maxUsedGas };
  if (halt === undefined) {
    return { ...failed, failure: { message: revertText(returnData), data: returnData } };
  }
  const note = isCapped ? " (gas limit was capped by the RPC server's global gas cap)" : "";
  return { ...failed, failure: { message: haltText(halt) + note } };
}

function throwTimeout({ options }: SimulationRun, gasLimit: bigint): never {
  const text = timeoutText(options.timeoutMs ?? 0);
  throw new SimulationError("SIMULATE_CALL_FAILED", `err: ${text} (supplied gas ${gasLimit})`);
}

/** A log of a simulated call. */
type SimulatedLog = {
  readonly log: Log;
  /** In the block. */
  readonly index: number;
};

/** The address that transfers of ether are logged under, as ERC-7528 names ether. */
const ETHER_ADDRESS = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee" as Address;

/** Collects the logs of a block's calls; with `traceTransfers` also one for each transfer of ether. */
type LogCollector = {
  readonly tracer: Tracer;
  /** The logs of the call that just ended, and makes ready for the next. */
  take(): readonly SimulatedLog[];
};

function createLogCollector(traceTransfers: boolean): LogCollector {
  let count = 0;
  /** One list a frame that is still open; the first takes what the outermost frame leaves. */
  let open: Log[][] = [[]];
  const add = (log: Log): void => void open.at(-1)!.push(log);

  return {
    tracer: {
      onEnter({ type, from, to, value }) {
        open.push([]);
        // CALLCODE moves its value from an account to itself.
        const moves = type !== "DELEGATECALL" && type !== "CALLCODE" && value > 0n;
        if (traceTransfers && moves) add(transferLog(ETHER_ADDRESS, from, to, value));
      },
      onExit({ outcome }) {
        const logs = open.pop()!;
        if (outcome === "success") open.at(-1)!.push(...logs);
      },
      onLog: add,
    },
    take() {
      // What a revert takes back has no place among the block's logs.
      const logs = open[0]!.map((log) => ({ log, index: count++ }));
      open = [[]];
      return logs;
    },
  };
}
