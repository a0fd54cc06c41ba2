import type { RpcMethods } from "../../../rpc/method-types.ts";

/** The methods that control a dev chain, by the names that programs call; `docs/rpc/` describes each. */
const CONTROL_METHODS = {
  snapshot: "evm_snapshot",
  revert: "evm_revert",
  mine: "anvil_mine",
  increaseTime: "evm_increaseTime",
  setTime: "evm_setTime",
  setNextBlockTimestamp: "evm_setNextBlockTimestamp",
  setBlockTimestampInterval: "anvil_setBlockTimestampInterval",
  removeBlockTimestampInterval: "anvil_removeBlockTimestampInterval",
  getAutomine: "anvil_getAutomine",
  setAutomine: "evm_setAutomine",
  setIntervalMining: "evm_setIntervalMining",
  setBlockGasLimit: "evm_setBlockGasLimit",
  setCoinbase: "anvil_setCoinbase",
  setNextBlockBaseFeePerGas: "anvil_setNextBlockBaseFeePerGas",
  setPrevRandao: "anvil_setPrevRandao",
  setNextSlotNumber: "evmint_setNextSlotNumber",
  setBalance: "anvil_setBalance",
  addBalance: "anvil_addBalance",
  setNonce: "anvil_setNonce",
  setCode: "anvil_setCode",
  setStorageAt: "anvil_setStorageAt",
  dealErc20: "anvil_dealERC20",
  setErc20Allowance: "anvil_setERC20Allowance",
  impersonateAccount: "anvil_impersonateAccount",
  stopImpersonatingAccount: "anvil_stopImpersonatingAccount",
  autoImpersonateAccount: "anvil_autoImpersonateAccount",
  dropTransaction: "hardhat_dropTransaction",
  dropAllTransactions: "anvil_dropAllTransactions",
  rollback: "anvil_rollback",
  reorg: "anvil_reorg",
  reset: "anvil_reset",
  dumpState: "anvil_dumpState",
  loadState: "anvil_loadState",
} as const satisfies Readonly<Record<string, keyof RpcMethods>>;

/** Each rejects with code 4200 unless the chain is a dev chain. */
export type DevControl = {
  readonly [Name in keyof typeof CONTROL_METHODS]: RpcMethods[(typeof CONTROL_METHODS)[Name]];
};

export function createDevControl(rpc: RpcMethods): DevControl {
  const control = Object.entries(CONTROL_METHODS).map(([name, method]) => [name, rpc[method]]);
  return Object.fromEntries(control) as DevControl;
}
