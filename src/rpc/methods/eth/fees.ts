import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import { blobBaseFee as feeAt, nextBaseFee } from "../../../base/params/fees.ts";
import { isBlockForkActive } from "../../../base/params/hardforks.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { FeeHistory } from "../../../chain/fees/fee-history.ts";
import { blockNumberOrTag } from "../../ports/block-selector.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { jsonKind, nullable, type ParamCodec, quantity, rawJsonOf, typeFault } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { FEE_HISTORY } from "../json/schemas.ts";
import { quantityText } from "../json/write.ts";
import { proposedBaseFee } from "./transaction-defaults.ts";

/**
 * `eth_gasPrice`: suggested tip plus the head's base fee, in wei; on a chain without a base fee, only the tip. On a dev chain the next
 * block includes a transaction at this price.
 */
export const gasPrice = defineMethod({
  name: "eth_gasPrice",
  params: {},
  result: quantity,
  async handle(_params, { chain }) {
    const { header } = await chain.head();
    const baseFee = chain.config.zeroBaseFee ? 0n : ((await proposedBaseFee(header, chain)) ?? 0n);
    return (await chain.suggestTip()) + baseFee;
  },
});

/** `eth_maxPriorityFeePerGas`: a tip in wei at which a transaction should be mined soon. */
export const maxPriorityFeePerGas = defineMethod({
  name: "eth_maxPriorityFeePerGas",
  params: {},
  result: quantity,
  handle: (_params, { chain }) => chain.suggestTip(),
});

const NO_BLOCKS = '{"oldestBlock":"0x0","gasUsedRatio":null}';

/** A count as JSON number, decimal or hex string: geth takes all three here and nowhere else. */
const decimalOrHex: ParamCodec<number> = {
  schema: { type: ["integer", "string"] },
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
  schema: { type: "array", items: { type: "number" } },
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
  params: { count: decimalOrHex, newest: blockNumberOrTag, percentiles },
  example: ["0x5", "latest", [25, 75]],
  result: rawJsonOf(FEE_HISTORY),
  heavy: true,
  handle({ count, newest, percentiles }, { chain }) {
    if (count === 0) return NO_BLOCKS;
    return andThen(chain.feeHistory({ blockCount: count, at: newest, percentiles }), (history) => {
      if (history.gasUsedRatio.length === 0) return NO_BLOCKS;
      if (!chain.isControlled || newest === "pending") return feeHistoryText(history);
      return andThen(withNextBaseFee(history, chain), feeHistoryText);
    });
  },
});

/** The base fee after the newest block, where it was set by hand. */
function withNextBaseFee(history: FeeHistory, chain: Pick<ChainView, "head" | "nextBlock">): MaybePromise<FeeHistory> {
  return andThen(chain.head(), ({ header }) =>
    andThen(chain.nextBlock(), ({ baseFeePerGas }) => {
      const isSame = baseFeePerGas === undefined || history.baseFeePerGas.at(-1) === baseFeePerGas;
      const newest = history.oldestBlock + history.gasUsedRatio.length - 1;
      if (newest !== header.number || isSame) return history;
      return { ...history, baseFeePerGas: [...history.baseFeePerGas.slice(0, -1), baseFeePerGas] };
    }),
  );
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

/** `eth_baseFee`: base fee of the next block in wei (EIP-1559), null before London. */
export const baseFee = defineMethod({
  name: "eth_baseFee",
  params: {},
  result: nullable(quantity),
  handle(_params, { chain }) {
    if (chain.isControlled) return andThen(chain.nextBlock(), ({ baseFeePerGas = null }) => baseFeePerGas);
    return andThen(chain.head(), ({ header }) =>
      isBlockForkActive(chain.config, "londonBlock", header.number + 1) ? nextBaseFee(header, chain.config) : null,
    );
  },
});

/** `eth_blobBaseFee`: price of blob gas in the newest block, in wei (EIP-4844); null before Cancun. */
export const blobBaseFee = defineMethod({
  name: "eth_blobBaseFee",
  params: {},
  result: nullable(quantity),
  handle: (_params, { chain }) =>
    andThen(chain.head(), ({ header: { excessBlobGas, timestamp } }) => {
      const params = blobParamsAt(chain.config, timestamp);
      return params === undefined || excessBlobGas === undefined ? null : feeAt(excessBlobGas, params);
    }),
});
