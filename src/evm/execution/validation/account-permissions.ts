import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { type Address, addressToBytes, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes, leftPad } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { StateReader } from "../../state/reader.ts";
import { InvalidTransactionError } from "../errors.ts";

/** Bits of an account's word in the contract of `accountPermissions`; all others have no meaning. */
export const ACCOUNT_PERMISSION = {
  /** Transactions of the account may be in blocks. */
  send: 1n,
  /** Also those without a recipient. */
  deploy: 2n,
} as const;

/** The contract's first variable is `mapping(address => uint256)`. */
const MAPPING_SLOT = bigintToFixedBytes(0n, 32);

/** What is asked of the state: one word of the contract, or two. */
type PermissionState = Pick<StateReader, "storage">;
type MissingPermission = { readonly code: "TX_SENDER_NOT_ALLOWED" | "TX_DEPLOYER_NOT_ALLOWED"; readonly text: string };

/** Where the contract's storage has the permissions of `account`, as Solidity lays out mappings. */
export function permissionSlot(account: Address): Hash {
  return keccak256Hash(concatBytes(leftPad(addressToBytes(account), 32), MAPPING_SLOT));
}

/**
 * What `sender` lacks to have `tx` in a block after `state`, on a chain whose genesis names a contract with the permissions of accounts. Everybody has what
 * the zero address has.
 */
export function missingPermission(
  { to }: Pick<Transaction, "to">,
  sender: Address,
  state: PermissionState,
  { accountPermissions: contract }: Pick<ChainConfig, "accountPermissions">,
): MissingPermission | undefined {
  if (contract === undefined) return undefined;
  const { send, deploy } = ACCOUNT_PERMISSION;
  const needed = to === null ? send | deploy : send;
  let granted = state.storage(contract, permissionSlot(sender));
  if ((granted & needed) === needed) return undefined;
  granted |= state.storage(contract, permissionSlot(ZERO_ADDRESS));
  if ((granted & needed) === needed) return undefined;
  return (granted & send) === 0n
    ? { code: "TX_SENDER_NOT_ALLOWED", text: `${sender} may not send transactions on this network` }
    : { code: "TX_DEPLOYER_NOT_ALLOWED", text: `${sender} may not create contracts on this network` };
}

/**
 * A rule of blocks that are made or imported, which calls and the execution of old blocks do not check.
 * @param state after the parent of the block: what the block itself changes counts for the next one, so that the order of its transactions does not matter
 * @throws InvalidTransactionError
 */
export function checkAccountPermissions(
  tx: Pick<Transaction, "to">,
  sender: Address,
  state: PermissionState,
  config: Pick<ChainConfig, "accountPermissions">,
): void {
  const missing = missingPermission(tx, sender, state, config);
  if (missing !== undefined) throw new InvalidTransactionError(missing.code, missing.text, { sender });
}
