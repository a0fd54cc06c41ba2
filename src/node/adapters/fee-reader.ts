import { feeHistory } from "../../chain/fees/fee-history.ts";
import { createGasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import type { Config } from "../../config/config.ts";
import type { FeeReader } from "../../rpc/ports/execution.ts";
import type { ChainCore } from "../compose-chain.ts";

/** Fees as the chain of `core` saw them lately. */
export function createFeeReader(
  config: Config,
  { reader }: Pick<ChainCore, "reader">,
): FeeReader & { suggestTip(): bigint } {
  const { minimumGasPriceWei } = config.mempool;
  const startPrice = minimumGasPriceWei > 0n ? { startPrice: minimumGasPriceWei } : {};
  const oracle = createGasPriceOracle(startPrice, { chain: reader });
  const { feeHistoryBlocksMax } = config.jsonRpc;
  return {
    suggestTip: () => oracle.suggestTip(),
    history: (blockCount, newest, percentiles) =>
      feeHistory(Math.min(blockCount, feeHistoryBlocksMax), newest, percentiles, reader),
  };
}
