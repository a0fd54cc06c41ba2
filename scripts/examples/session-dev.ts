/** Calls of the methods that bend a dev chain, each under all of its names. */
import type { Recorder } from "./recorder.ts";
import { BOB, CAROL, HASH, SLOT, type World } from "./world.ts";

const ETHER = "0xde0b6b3a7640000";
/** Returns 1: `PUSH1 1 PUSH0 MSTORE PUSH1 32 PUSH0 RETURN`. */
const CODE = "0x60015f5260205ff3";
const ONE = `0x${"1".padStart(64, "0")}`;

export async function bendChain(r: Recorder, { token }: World) {
  /** The same call under several names. */
  const each = async (names: string, ...params: unknown[]) => {
    for (const name of names.split(" ")) await r.example(name, ...params);
  };
  const { instanceId } = await r.call("hardhat_metadata");
  r.standIn(instanceId, HASH);
  await each("hardhat_metadata anvil_metadata hardhat_getAutomine anvil_getAutomine anvil_nodeInfo");
  await each("anvil_getGenesisTime anvil_getIntervalMining");

  await each("hardhat_setBalance anvil_setBalance evm_setAccountBalance tenderly_setBalance", BOB, ETHER);
  await each("hardhat_addBalance anvil_addBalance tenderly_addBalance", BOB, ETHER);
  await each("hardhat_setNonce anvil_setNonce evm_setAccountNonce", BOB, "0x20");
  await each("hardhat_setCode anvil_setCode evm_setAccountCode", HASH.slice(0, 42), CODE);
  await each("hardhat_setStorageAt anvil_setStorageAt evm_setAccountStorageAt", HASH.slice(0, 42), SLOT, ONE);
  await each("hardhat_dealERC20 anvil_dealERC20 anvil_dealErc20", CAROL, token, "0x64");
  const allowance = [CAROL, BOB, token, "0x64"];
  await each("hardhat_setERC20Allowance anvil_setERC20Allowance anvil_setErc20Allowance", ...allowance);
  await each("hardhat_impersonateAccount anvil_impersonateAccount", token);
  await each("hardhat_stopImpersonatingAccount anvil_stopImpersonatingAccount", token);
  for (const name of ["hardhat_autoImpersonateAccount", "anvil_autoImpersonateAccount"]) {
    await r.example(name, true);
    await r.call(name, false);
  }

  for (const prefix of ["evm", "anvil"]) {
    const id = await r.example(`${prefix}_snapshot`);
    await r.example(`${prefix}_revert`, id);
  }
  await r.example("evm_mine");
  await each("evm_mine_detailed anvil_mine_detailed", { blocks: 1 });
  await r.example("hardhat_intervalMine");
  await r.example("hardhat_mine", "0x2", "0x3c");
  await r.example("anvil_mine", "0x2", "0x3c");
  await each("evm_setAutomine anvil_setAutomine", true);
  await r.example("evm_setIntervalMining", 0);
  await r.example("anvil_setIntervalMining", 0);
  await r.call("evm_setAutomine", true);

  await each("anvil_setBlockTimestampInterval evm_setBlockTimestampInterval", 12);
  await r.example("hardhat_setBlockTimestampInterval", 12_000);
  await r.example("anvil_removeBlockTimestampInterval");
  await r.call("anvil_setBlockTimestampInterval", 12);
  await r.example("hardhat_removeBlockTimestampInterval");
  const { timestamp } = await r.call("eth_getBlockByNumber", "latest", false);
  const now = Number(timestamp);
  await r.call("evm_setTime", now);
  await r.example("evm_setTime", now + 60);
  await r.example("anvil_setTime", now + 120);
  await each("evm_setNextBlockTimestamp anvil_setNextBlockTimestamp", now + 7200);

  await each("evm_setBlockGasLimit anvil_setBlockGasLimit hardhat_setBlockGasLimit", "0x3938700");
  await each("hardhat_setCoinbase anvil_setCoinbase", BOB);
  await each("hardhat_setNextBlockBaseFeePerGas anvil_setNextBlockBaseFeePerGas", "0x3b9aca00");
  for (const prefix of ["hardhat", "anvil"]) await r.rejected(`${prefix}_setMinGasPrice`, "0x0");
  await each("hardhat_setPrevRandao anvil_setPrevRandao", HASH);
  await r.rejected("evmint_setNextSlotNumber", "0x10");
  await each("hardhat_setLoggingEnabled anvil_setLoggingEnabled", true);
  await r.example("anvil_setChainId", 31337);

  await r.call("evm_mine");
  await r.example("anvil_rollback", 1);
  await r.example("anvil_reorg", 1);
  for (const prefix of ["hardhat", "anvil"]) {
    const state = await r.example(`${prefix}_dumpState`);
    await r.example(`${prefix}_loadState`, state);
  }
  for (const prefix of ["hardhat", "anvil"]) await r.rejected(`${prefix}_setRpcUrl`, "http://127.0.0.1:9545");
  await r.example("debug_setHead", "0x2");
  for (const prefix of ["hardhat", "anvil"]) await r.example(`${prefix}_reset`);
}

/** On a chain whose clock is the system's: they answer how far it is ahead of that. */
export async function moveClock(r: Recorder) {
  await r.example("evm_increaseTime", 3600);
  await r.example("anvil_increaseTime", 3600);
}
