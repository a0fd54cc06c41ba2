import { createHash } from "node:crypto";
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  REQUEST_CONTRACTS,
  SYSTEM_ADDRESS,
  SYSTEM_CALL_GAS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../../base/params/gas.ts";
import { type Hardfork, isAtLeast } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Log, Receipt } from "../../../base/types/receipt.ts";
import type { BlockContext, Evm, ExecutionResult } from "../../machine/evm.ts";
import { haltText } from "../../machine/halts.ts";
import { EMPTY_CODE_HASH } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import type { WorldState } from "../../state/world-state.ts";
import { InvalidBlockError } from "../errors.ts";

/** Environment of the protocol's system calls. */
type SystemCallEnvironment = {
  readonly evm: Evm;
  readonly block: BlockContext;
  readonly state: WorldState;
};

/** What precedes the transactions of a block: EIP-4788 from Cancun, EIP-2935 from Prague. */
export function storeAncestry(
  { parentHash, parentBeaconBlockRoot }: Pick<Header, "parentHash" | "parentBeaconBlockRoot">,
  environment: SystemCallEnvironment,
): void {
  if (parentBeaconBlockRoot !== undefined) storeBeaconRoot(parentBeaconBlockRoot, environment);
  if (isAtLeast(environment.block.hardfork, "prague")) storeParentHash(parentHash, environment);
}

/** EIP-4788: stores the beacon root in its contract. A missing or failing contract is ignored. */
function storeBeaconRoot(root: Hash, environment: SystemCallEnvironment): void {
  systemCall(BEACON_ROOTS_ADDRESS, hashToBytes(root), environment);
}

/** EIP-2935: stores the parent's hash in the history contract. */
function storeParentHash(parentHash: Hash, environment: SystemCallEnvironment): void {
  systemCall(HISTORY_STORAGE_ADDRESS, hashToBytes(parentHash), environment);
}

/**
 * EIP-7002: the withdrawal requests queued in this block and before, as their contract returns them.
 * @throws InvalidBlockError when the contract is missing or fails
 */
export function takeWithdrawalRequests(environment: SystemCallEnvironment): Uint8Array {
  return takeQueue(WITHDRAWAL_REQUEST_ADDRESS, "withdrawal", environment);
}

/**
 * EIP-7251: the same for consolidation requests.
 * @throws InvalidBlockError
 */
export function takeConsolidationRequests(environment: SystemCallEnvironment): Uint8Array {
  return takeQueue(CONSOLIDATION_REQUEST_ADDRESS, "consolidation", environment);
}

/** Of the contracts without which no block with the rules of `hardfork` is valid, those that `state` lacks. */
export function missingRequestContracts(
  state: Pick<StateReader, "account">,
  hardfork: Hardfork,
): typeof REQUEST_CONTRACTS {
  return REQUEST_CONTRACTS.filter(({ address, since }) => {
    if (!isAtLeast(hardfork, since)) return false;
    const { codeHash = EMPTY_CODE_HASH } = state.account(address) ?? {};
    return codeHash === EMPTY_CODE_HASH;
  });
}

function takeQueue(address: Address, name: string, environment: SystemCallEnvironment): Uint8Array {
  const prefix = `failed to process ${name} queue`;
  const result = systemCall(address, EMPTY_BYTES, environment);
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

/** Runs the contract as the system caller, outside the block's gas; undefined when there is no code. */
function systemCall(
  to: Address,
  data: Uint8Array,
  { evm, block, state }: SystemCallEnvironment,
): ExecutionResult | undefined {
  const callee = state.account(to);
  if (callee === undefined || callee.codeHash === EMPTY_CODE_HASH) return undefined;
  const result = evm.execute(
    {
      to,
      caller: SYSTEM_ADDRESS,
      origin: SYSTEM_ADDRESS,
      value: 0n,
      data,
      gas: SYSTEM_CALL_GAS,
      gasPrice: 0n,
      blobVersionedHashes: [],
      warmAddresses: [],
      warmSlots: [],
    },
    block,
    state,
    SYSTEM_CALL_OPTIONS,
  );
  state.finalizeTransaction({ selfDestructs: result.selfDestructs, deleteEmptyTouched: true });
  return result;
}

/** EIP-7685 request types: deposits (EIP-6110), withdrawals (EIP-7002), consolidations (EIP-7251). */
const DEPOSIT_TYPE = 0x00;
const WITHDRAWAL_TYPE = 0x01;
const CONSOLIDATION_TYPE = 0x02;

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

/** Requests of one block by type, each without its type byte. */
type BlockRequests = {
  readonly deposits: Uint8Array;
  readonly withdrawals: Uint8Array;
  readonly consolidations: Uint8Array;
};

/** The requests as the consensus layer sees them: `type ‖ data`, ascending, without the empty ones (EIP-7685). */
export function requestList(requests: BlockRequests): Uint8Array[] {
  const typed = [
    [DEPOSIT_TYPE, requests.deposits],
    [WITHDRAWAL_TYPE, requests.withdrawals],
    [CONSOLIDATION_TYPE, requests.consolidations],
  ] as const;
  return typed.filter(([, data]) => data.length > 0).map(([type, data]) => concatBytes(Uint8Array.of(type), data));
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
