import type { FeeHistory } from "../../../chain/fees/fee-history.ts";
import { InvalidValueError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { quantityText } from "../../json/write.ts";
import { type BlockNumberOrTag, blockNumberOrTag } from "../../params/block-selector.ts";
import { jsonKind, nullAs, type ParamCodec, rawJson, typeFault } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen, type MaybePromise } from "../../ports/maybe-promise.ts";

const NO_BLOCKS = '{"oldestBlock":"0x0","gasUsedRatio":null}';

/** A count as JSON number, decimal or hex string: geth takes all three here and nowhere else. */
const decimalOrHex: ParamCodec<number> = {
  decode(value) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === "") return 0;
    if (/^(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20})$/.test(text) && BigInt(text) < 2n ** 64n) {
      return Number(BigInt(text));
    }
    throw new InvalidValueError(`invalid hex or decimal integer ${JSON.stringify(text)}`);
  },
};

const percentiles: ParamCodec<readonly number[]> = {
  decode(value) {
    if (!Array.isArray(value)) throw typeFault(jsonKind(value), "[]float64");
    return value.map((item: unknown) => {
      if (typeof item === "number") return item;
      // Go reads null as 0.
      if (item === null) return 0;
      throw typeFault(jsonKind(item), "float64");
    });
  },
};

/**
 * `eth_feeHistory`: base fees, fullness and tips of `count` blocks up to `newest`.
 *
 * @see EIP-1559; geth `eth/gasprice/feehistory.go` for the shape of an empty answer
 */
export const feeHistory = defineMethod({
  name: "eth_feeHistory",
  params: { count: decimalOrHex, newest: blockNumberOrTag, percentiles: nullAs(percentiles, []) },
  result: rawJson,
  heavy: true,
  handle(
    { count, newest, percentiles },
    { chain }: { chain: Pick<ChainView, "head" | "oldest" | "feeHistory"> },
  ) {
    if (count === 0) return NO_BLOCKS;
    return andThen(numberOf(newest, chain), (number) =>
      andThen(chain.feeHistory(count, number, percentiles), (history) =>
        history.gasUsedRatio.length === 0 ? NO_BLOCKS : feeHistoryText(history),
      ),
    );
  },
});

function numberOf(
  newest: BlockNumberOrTag,
  chain: Pick<ChainView, "head" | "oldest">,
): MaybePromise<number | "pending"> {
  if (typeof newest === "number" || newest === "pending") return newest;
  return newest === "earliest"
    ? andThen(chain.oldest(), ({ block }) => block)
    : andThen(chain.head(), ({ header }) => header.number);
}

/** The JSON of histories that `ChainView.feeHistory` returns more than once. */
const texts = new WeakMap<FeeHistory, string>();

function feeHistoryText(history: FeeHistory): string {
  let text = texts.get(history);
  if (text === undefined) {
    text = writeFeeHistory(history);
    texts.set(history, text);
  }
  return text;
}

function writeFeeHistory(history: FeeHistory): string {
  const { oldestBlock, reward } = history;
  const rewards = reward ? `,"reward":[${reward.map(quantitiesText).join(",")}]` : "";
  return (
    `{"oldestBlock":${quantityText(oldestBlock)}${rewards}` +
    `,"baseFeePerGas":${quantitiesText(history.baseFeePerGas)}` +
    `,"gasUsedRatio":${JSON.stringify(history.gasUsedRatio)}` +
    `,"baseFeePerBlobGas":${quantitiesText(history.baseFeePerBlobGas)}` +
    `,"blobGasUsedRatio":${JSON.stringify(history.blobGasUsedRatio)}}`
  );
}

function quantitiesText(values: readonly bigint[]): string {
  return `[${values.map(quantityText).join(",")}]`;
}
