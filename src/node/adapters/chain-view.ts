import { createLocalChainView } from "../../adapters/chain-view.ts";
import { createFeeHistory } from "../../chain/fees/fee-history.ts";
import { createGasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import type { Config } from "../../config/config.ts";
import type { ChainEvents, ChainView } from "../../rpc/ports/chain-view.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ChainCore } from "../compose/compose-chain.ts";

/** `ChainView` over the chain of `core`, in its thread. */
export function createChainView(
  config: Config,
  log: Logger,
  core: ChainCore,
): { readonly chain: ChainView; readonly suggestTip: () => bigint } {
  const { reader, mempool, store, submit, logTexts } = core;
  const { minimumGasPriceWei } = config.mempool;
  const startPrice = minimumGasPriceWei > 0n ? { startPrice: minimumGasPriceWei } : {};
  const oracle = createGasPriceOracle(startPrice, { chain: reader });
  const suggestTip = () => oracle.suggestTip();
  const { feeHistoryBlocksMax } = config.jsonRpc;
  const feeHistory = createFeeHistory(reader);
  const chain = createLocalChainView({
    ...{ reader, submit, suggestTip, logTexts },
    pool: mempool,
    logs: store.logs,
    addresses: store.addressIndex,
    feeHistory: (blockCount, newest, percentiles) =>
      feeHistory(Math.min(blockCount, feeHistoryBlocksMax), newest, percentiles),
    subscribe: (listener) => subscribe(listener, log, core),
  });
  return { chain, suggestTip };
}

/** The chain catches what its listeners throw. The pool does not, and no transaction may be lost to a listener. */
function subscribe(
  { onBlock, onRemoved, onPending }: Parameters<ChainEvents["subscribe"]>[0],
  log: Logger,
  { chain, mempool }: Pick<ChainCore, "chain" | "mempool">,
): () => void {
  const stops: (() => void)[] = [];
  if (onBlock) stops.push(chain.subscribe(({ executed }) => onBlock(executed)));
  if (onRemoved) stops.push(chain.onRollback(onRemoved));
  if (onPending) {
    stops.push(
      mempool.onPending((transactions) => {
        try {
          onPending(transactions.map(({ tx, sender }) => ({ tx, sender })));
        } catch (error) {
          log.error("listener of the pool failed", { error });
        }
      }),
    );
  }
  return () => {
    for (const stop of stops) stop();
  };
}
