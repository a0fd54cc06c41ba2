import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { blobBaseFee } from "../../params/fees.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Header } from "../../types/header.ts";
import {
  assertOnePriceForm,
  type CallArguments,
  InvalidCallArgumentsError,
} from "./call-arguments.ts";

/** The part of a header that prices are made from. */
type FeeHeader = Pick<Header, "baseFeePerGas" | "excessBlobGas" | "timestamp">;

/**
 * `args` with the prices a wallet would offer after `head`, where they are left out: the suggested tip and twice the base fee.
 * @param suggestTip asked only when a tip is missing; wei
 * @throws InvalidCallArgumentsError
 */
export function withFeeDefaults(
  args: CallArguments,
  head: FeeHeader,
  config: ChainConfig,
  suggestTip: () => bigint,
): CallArguments {
  const withBlobFee = withBlobFeeDefault(args, head, config);
  assertOnePriceForm(withBlobFee);
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = withBlobFee;
  if (gasPrice !== undefined && authorizationList !== undefined) {
    throw new InvalidCallArgumentsError("both gasPrice and authorizationList specified");
  }
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined) {
    if (maxFeePerGas === 0n) {
      throw new InvalidCallArgumentsError("maxFeePerGas must be non-zero");
    }
    assertTipWithinFee(maxFeePerGas, maxPriorityFeePerGas);
    return withBlobFee;
  }
  const baseFee = head.baseFeePerGas;
  if (gasPrice !== undefined) {
    if (gasPrice === 0n && baseFee !== undefined) {
      throw new InvalidCallArgumentsError("gasPrice must be non-zero after london fork");
    }
    return withBlobFee;
  }
  if (baseFee === undefined) {
    if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) {
      throw new InvalidCallArgumentsError(
        "maxFeePerGas and maxPriorityFeePerGas are not valid before London is active",
      );
    }
    return { ...withBlobFee, gasPrice: suggestTip() };
  }
  const tip = maxPriorityFeePerGas ?? suggestTip();
  const fee = maxFeePerGas ?? tip + 2n * baseFee;
  assertTipWithinFee(fee, tip);
  return { ...withBlobFee, maxFeePerGas: fee, maxPriorityFeePerGas: tip };
}

/** Twice the blob base fee of `head`, for a transaction with blobs that names no price for them. */
function withBlobFeeDefault(
  args: CallArguments,
  head: FeeHeader,
  config: ChainConfig,
): CallArguments {
  if (args.maxFeePerBlobGas === 0n) {
    throw new InvalidCallArgumentsError("maxFeePerBlobGas, if specified, must be non-zero");
  }
  const params = blobParamsAt(config, head.timestamp);
  if (!args.blobVersionedHashes || args.maxFeePerBlobGas !== undefined || !params) return args;
  return { ...args, maxFeePerBlobGas: 2n * blobBaseFee(head.excessBlobGas ?? 0n, params) };
}

function assertTipWithinFee(maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): void {
  if (maxFeePerGas < maxPriorityFeePerGas) {
    throw new InvalidCallArgumentsError(
      `maxFeePerGas (${toQuantity(maxFeePerGas)}) < maxPriorityFeePerGas (${toQuantity(maxPriorityFeePerGas)})`,
    );
  }
}
