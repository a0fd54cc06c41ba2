import type { Config } from "../../config/config.ts";
import { editAppToml } from "../../config/edit-app-toml.ts";
import { SCHEMA } from "../../config/schema.ts";
import type { MinerSettings } from "../../rpc/miner/port.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ChainCore } from "../compose-chain.ts";

/**
 * Keeps what callers set in `app.toml` and nowhere else: there it is seen by whoever looks for it, `config show --origin` names it, and
 * flags outrank it as they outrank everything in the file.
 */
export function createMinerSettings(
  { home }: Pick<Config, "home">,
  { feeRecipient }: Pick<ChainCore, "feeRecipient">,
  log: Logger,
): MinerSettings {
  return {
    setMinimumGasPrice(wei) {
      const { key } = SCHEMA.mempool.minimumGasPriceWei;
      editAppToml(home, key, wei);
      log.info("minimum gas price set, in force after a restart", { key, wei });
    },
    setEtherbase(account) {
      const { key } = SCHEMA.consensus.feeRecipient;
      editAppToml(home, key, account);
      feeRecipient.value = account;
      log.info("reward account set", { key, account });
    },
  };
}
