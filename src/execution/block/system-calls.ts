import type { BlockContext, Evm, ExecutionResult } from "../../evm/evm.ts";
import { haltText } from "../../evm/halt-text.ts";
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  SYSTEM_ADDRESS,
  SYSTEM_CALL_GAS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../params/gas.ts";
import { isAtLeast } from "../../params/hardforks.ts";
import { type Address, checksumAddress } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import type { Header } from "../../types/header.ts";
import { InvalidBlockError } from "../errors.ts";
import { callKnownContract } from "./known-system-contracts.ts";

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

type SystemCallResult = Pick<ExecutionResult, "outcome" | "halt" | "returnData">;

const NOTHING_TO_DELETE = { selfDestructs: [], deleteEmptyTouched: false };

/** Runs the contract as the system caller, outside the block's gas; undefined when there is no code. */
function systemCall(
  to: Address,
  data: Uint8Array,
  { evm, block, state }: SystemCallEnvironment,
): SystemCallResult | undefined {
  const callee = state.account(to);
  if (callee === undefined || callee.codeHash === EMPTY_CODE_HASH) return undefined;
  const returnData = callKnownContract(callee.codeHash, { to, data, block, state });
  if (returnData !== undefined) {
    state.finalizeTransaction(NOTHING_TO_DELETE);
    return { outcome: "success", returnData };
  }
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
  );
  state.finalizeTransaction({ selfDestructs: result.selfDestructs, deleteEmptyTouched: true });
  return result;
}
