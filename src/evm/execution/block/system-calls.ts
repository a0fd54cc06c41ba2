import { createHash } from "node:crypto";
import {
  BEACON_ROOTS_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  REQUEST_CONTRACTS,
  type RequestContract,
  SYSTEM_ADDRESS,
  SYSTEM_CALL_GAS,
  SYSTEM_CALL_STATE_GAS,
} from "../../../base/params/gas.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Log, Receipt } from "../../../base/types/receipt.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult } from "../../machine/evm.ts";
import { haltText } from "../../machine/halts.ts";
import type { StateReader } from "../../state/reader.ts";
import type { WorldState } from "../../state/world-state.ts";
import { InvalidBlockError } from "../errors.ts";
import { KNOWN_CODES } from "./known-system-code.ts";

/** Environment of the protocol's system calls. */
type SystemCallEnvironment = {
  readonly evm: Evm;
  readonly block: BlockContext;
  readonly state: WorldState;
  /** Known codes are executed too: what reads them is recorded. */
  readonly executesKnownCode?: boolean | undefined;
};

/** Runs a part of a block that ends in `finalizeTransaction`, with what it is to tell of each account and slot that it looks at. */
export type Step = <T>(run: (onAccess: ExecuteOptions["onAccess"]) => T) => T;

/** What precedes the transactions of a block: EIP-4788 from Cancun, EIP-2935 from Prague. A missing or failing contract is ignored. */
export function storeAncestry(
  {
    parentHash,
    parentBeaconBlockRoot,
  }: Pick<Header, "parentBeaconBlockRoot"> & { readonly parentHash: Hash | undefined },
  environment: SystemCallEnvironment,
  step: Step = (run) => run(undefined),
): void {
  if (parentBeaconBlockRoot !== undefined) {
    step((onAccess) => systemCall(BEACON_ROOTS_ADDRESS, hashToBytes(parentBeaconBlockRoot), environment, onAccess));
  }
  if (parentHash !== undefined && RULES_AT[environment.block.hardfork].prague) {
    step((onAccess) => systemCall(HISTORY_STORAGE_ADDRESS, hashToBytes(parentHash), environment, onAccess));
  }
}

/**
 * EIP-7002, EIP-7251, EIP-8282: the requests queued in this block and before, as their contracts return them, by type.
 * @throws InvalidBlockError when a contract is missing or fails
 */
export function takeRequests(environment: SystemCallEnvironment, step: Step): TypedRequests[] {
  return CONTRACTS_AT.get(environment.block.hardfork)!.map((contract) => ({
    type: contract.requestType,
    data: step((onAccess) => takeQueue(contract, environment, onAccess)),
  }));
}

/** The contracts without which no block under the rules of `hardfork` is valid. */
const CONTRACTS_AT: ReadonlyMap<Hardfork, readonly RequestContract[]> = new Map(
  HARDFORKS.map((hardfork) => [hardfork, REQUEST_CONTRACTS.filter(({ since }) => RULES_AT[hardfork][since])]),
);

/** The contracts that `state` lacks, of those that every block under the rules of `hardfork` requires. */
export function missingRequestContracts(
  state: Pick<StateReader, "account">,
  hardfork: Hardfork,
): readonly RequestContract[] {
  return CONTRACTS_AT.get(hardfork)!.filter(({ address }) => {
    const { codeHash = EMPTY_CODE_HASH } = state.account(address) ?? {};
    return codeHash === EMPTY_CODE_HASH;
  });
}

function takeQueue(
  { address, queue }: RequestContract,
  environment: SystemCallEnvironment,
  onAccess: ExecuteOptions["onAccess"],
): Uint8Array {
  const prefix = `failed to process ${queue} queue`;
  const result = systemCall(address, EMPTY_BYTES, environment, onAccess);
  if (result === undefined) {
    throw new InvalidBlockError(
      "BLOCK_SYSTEM_CONTRACT_EMPTY",
      `${prefix}: empty system contract: no code at ${checksumAddress(address)}`,
      { address },
    );
  }
  if (result.outcome !== "success") {
    const text = result.halt ? haltText(result.halt) : "execution reverted";
    throw new InvalidBlockError(
      "BLOCK_SYSTEM_CONTRACT_CALL_FAILED",
      `${prefix}: system call failed to execute: ${text}`,
      { address },
    );
  }
  return result.returnData;
}

/**
 * A few short calls in every block make their contracts hot on any chain. The thread that compiles took 0.5 s of CPU for them in the
 * first 500 blocks of a process, and saved nothing that could be measured in the next 500 (`bench -- sequential-tx`).
 */
const SYSTEM_CALL_OPTIONS = { isInterpreted: true } as const;

type SystemCallResult = Pick<ExecutionResult, "outcome" | "halt" | "returnData" | "selfDestructs">;

/** Of a call of known code. */
const DONE: SystemCallResult = { outcome: "success", returnData: EMPTY_BYTES, selfDestructs: [] };

/** Runs the contract as the system caller, outside the block's gas; undefined if there is no code. */
function systemCall(
  to: Address,
  data: Uint8Array,
  environment: SystemCallEnvironment,
  onAccess: ExecuteOptions["onAccess"],
): SystemCallResult | undefined {
  const { block, state } = environment;
  onAccess?.(to, undefined);
  const callee = state.account(to);
  if (callee === undefined || callee.codeHash === EMPTY_CODE_HASH) return undefined;
  const known = onAccess || environment.executesKnownCode ? undefined : KNOWN_CODES.get(callee.codeHash);
  const result = known?.(to, data, block, state) ? DONE : execute(to, data, environment, onAccess);
  state.finalizeTransaction({
    selfDestructs: result.selfDestructs,
    deleteEmptyTouched: true,
    keepsBalances: RULES_AT[block.hardfork].amsterdam,
  });
  return result;
}

function execute(
  to: Address,
  data: Uint8Array,
  { evm, block, state }: SystemCallEnvironment,
  onAccess: ExecuteOptions["onAccess"],
): SystemCallResult {
  return evm.execute(
    {
      to,
      caller: SYSTEM_ADDRESS,
      origin: SYSTEM_ADDRESS,
      value: 0n,
      data,
      gas: SYSTEM_CALL_GAS,
      reservoir: RULES_AT[block.hardfork].amsterdam ? SYSTEM_CALL_STATE_GAS : undefined,
      gasPrice: 0n,
      blobVersionedHashes: [],
      warmAddresses: [],
      warmSlots: [],
    },
    block,
    state,
    onAccess ? { ...SYSTEM_CALL_OPTIONS, onAccess } : SYSTEM_CALL_OPTIONS,
  );
}

/** EIP-7685 request type of deposits (EIP-6110) */
const DEPOSIT_TYPE = 0x00;

/** keccak256("DepositEvent(bytes,bytes,bytes,bytes,bytes)") */
const DEPOSIT_TOPIC = "0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5" as Hash;
const DEPOSIT_LOG_LENGTH = 576;

/** The five fields of a deposit event: offset after its length word, and required length. */
const DEPOSIT_FIELDS = [
  { offset: 160, length: 48 },
  { offset: 256, length: 32 },
  { offset: 320, length: 8 },
  { offset: 384, length: 96 },
  { offset: 512, length: 8 },
] as const;

/** Requests of one block of one type, without the type byte. */
type TypedRequests = { readonly type: number; readonly data: Uint8Array };

/** The requests as the consensus layer sees them: `type ‖ data`, ascending, without the empty ones (EIP-7685). */
export function requestList(deposits: Uint8Array, others: readonly TypedRequests[]): Uint8Array[] {
  const requests: Uint8Array[] = [];
  for (const { type, data } of [{ type: DEPOSIT_TYPE, data: deposits }, ...others]) {
    if (data.length > 0) requests.push(concatBytes(Uint8Array.of(type), data));
  }
  return requests;
}

/** `requestsHash` of the header: sha256 over the sha256 of each request (EIP-7685). */
export function requestsHash(requests: readonly Uint8Array[]): Hash {
  return hashFromBytes(sha256(concatBytes(...requests.map(sha256))));
}

/**
 * EIP-6110: deposits of all deposit events of the contract, in order.
 * @throws InvalidBlockError for an event of another shape
 */
export function depositsOf(
  receipts: readonly Pick<Receipt, "logs">[],
  depositContract: Address | undefined,
): Uint8Array {
  if (depositContract === undefined) return EMPTY_BYTES;
  const events = receipts
    .flatMap(({ logs }) => logs)
    .filter(({ address, topics }) => address === depositContract && topics[0] === DEPOSIT_TOPIC);
  return concatBytes(...events.map(depositOf));
}

/** pubkey ‖ withdrawal_credentials ‖ amount ‖ signature ‖ index out of the ABI encoding of the event. */
function depositOf({ data }: Log): Uint8Array {
  if (data.length !== DEPOSIT_LOG_LENGTH) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT",
      `deposit wrong length: want ${DEPOSIT_LOG_LENGTH}, have ${data.length}`,
    );
  }
  const word = (at: number) => bytesToBigint(data.subarray(at, at + 32));
  DEPOSIT_FIELDS.forEach(({ offset, length }, i) => {
    if (word(32 * i) !== BigInt(offset) || word(offset) !== BigInt(length)) {
      throw new InvalidBlockError("BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT", `deposit field ${i} is not where it belongs`);
    }
  });
  return concatBytes(...DEPOSIT_FIELDS.map(({ offset, length }) => data.subarray(offset + 32, offset + 32 + length)));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
