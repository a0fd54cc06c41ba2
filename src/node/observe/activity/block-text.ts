import type { Hash } from "../../../base/primitives/hash.ts";
import type { TransactionDetails } from "../transaction-tracer.ts";
import { amountText, countText, roundedAmountText, shareText } from "./amounts.ts";
import type { Paint } from "./paint.ts";
import { shownText } from "./shown-text.ts";

/** Output for one transaction. */
export const TRANSACTION_TEXT_LIMITS = {
  /** Calls and events. Use `debug_traceTransaction` for larger trees. */
  callsMax: 60,
  /** Lines of console.log. */
  printedMax: 100,
  /** Characters of a line. */
  lineCharsMax: 600,
} as const;

/** A block as the log shows it. */
export type BlockReport = {
  readonly number: number;
  readonly transactions: number;
  readonly gasUsed: bigint;
  readonly gasLimit: bigint;
  /** wei; absent before London */
  readonly baseFeePerGas: bigint | undefined;
  /** Unix seconds */
  readonly timestamp: number;
  /** The first of its transactions. */
  readonly shown: readonly TransactionReport[];
  /** The other transactions, and the number of failed ones among them. */
  readonly hidden: { readonly count: number; readonly failed: number };
};

export type TransactionReport = {
  readonly hash: Hash;
  readonly from: string;
  /** undefined: it creates a contract */
  readonly to: string | undefined;
  readonly created: string | undefined;
  /** wei */
  readonly value: bigint;
  readonly nonce: bigint;
  readonly gasUsed: bigint;
  readonly gasLimit: bigint;
  /** wei per unit of gas */
  readonly gasPrice: bigint;
  /** wei for its blobs */
  readonly blobFee: bigint;
  readonly isFailed: boolean;
  /** undefined: not executed again */
  readonly details: TransactionDetails | undefined;
};

/** The lines of a block and its transactions. */
export function blockLines(block: BlockReport, paint: Paint): string[] {
  const { number, transactions, gasUsed, gasLimit, shown, hidden } = block;
  const head = [
    paint.bold(`block ${number}`),
    transactions === 1 ? "1 transaction" : `${countText(transactions)} transactions`,
    `${countText(gasUsed)} gas (${shareText(gasUsed, gasLimit)})`,
    ...(block.baseFeePerGas === undefined ? [] : [`base fee ${roundedAmountText(block.baseFeePerGas)}`]),
    paint.dim(timeText(block.timestamp)),
  ];
  const more = hidden.count === 0 ? [] : [`  ${paint.dim(`… ${hiddenText(hidden)}`)}`];
  return [head.join("  "), ...shown.flatMap((transaction) => transactionLines(transaction, paint)), ...more];
}

export function hiddenText({ count, failed }: BlockReport["hidden"]): string {
  const failures = failed === 0 ? "" : `, ${countText(failed)} of them failed`;
  return `${countText(count)} more transaction${count === 1 ? "" : "s"}${failures}`;
}

/** `2026-01-31 12:00:00` in UTC */
function timeText(timestamp: number): string {
  const date = new Date(timestamp * 1_000);
  return Number.isNaN(date.getTime()) ? `time ${timestamp}` : date.toISOString().slice(0, 19).replace("T", " ");
}

const LABEL_CHARS = 9;
const INDENT = " ".repeat(4);

function transactionLines(transaction: TransactionReport, paint: Paint): string[] {
  const { details, isFailed, gasPrice, gasUsed, gasLimit, blobFee } = transaction;
  const row = (label: string, text: string) => `${INDENT}${paint.dim(label.padEnd(LABEL_CHARS))}${text}`;
  const clean = (text: string) => shownText(text, TRANSACTION_TEXT_LIMITS.lineCharsMax);
  const fee = `fee ${roundedAmountText(gasUsed * gasPrice + blobFee)} at ${roundedAmountText(gasPrice)} a gas`;
  const target =
    transaction.to === undefined
      ? row("creates", clean(transaction.created ?? "nothing"))
      : row("to", clean(transaction.to));
  return [
    `  ${paint.bold("transaction")} ${transaction.hash}`,
    row("from", `${clean(transaction.from)} ${paint.dim(`nonce ${transaction.nonce}`)}`),
    target,
    ...(transaction.value > 0n ? [row("value", amountText(transaction.value))] : []),
    row("gas", `${countText(gasUsed)} of ${countText(gasLimit)} (${shareText(gasUsed, gasLimit)}), ${fee}`),
    row(
      "status",
      isFailed ? paint.red(clean(`failed: ${details?.reason ?? "reason not looked for"}`)) : paint.green("success"),
    ),
    ...(details?.revertedAt === undefined ? [] : [row("at", paint.red(clean(details.revertedAt)))]),
    ...labelled("calls", callTexts(details, paint, clean), row),
    ...labelled("console", printedTexts(details, clean), row),
    ...(details?.fault === undefined || isFailed
      ? []
      : [row("calls", paint.dim(clean(`not known: ${details.fault}`)))]),
  ];
}

function callTexts(details: TransactionDetails | undefined, paint: Paint, clean: (text: string) => string): string[] {
  const calls = details?.calls ?? [];
  const { callsMax } = TRANSACTION_TEXT_LIMITS;
  const lines = calls.slice(0, callsMax).map((text) => {
    const shown = clean(text);
    if (/^ *emit /.test(shown)) return paint.cyan(shown);
    return shown.includes(" ✗ ") ? paint.red(shown) : shown;
  });
  return calls.length > callsMax ? [...lines, paint.dim(`… ${calls.length - callsMax} more lines`)] : lines;
}

/** The printed texts, split at their line feeds. */
function printedTexts(details: TransactionDetails | undefined, clean: (text: string) => string): string[] {
  const { printedMax } = TRANSACTION_TEXT_LIMITS;
  const lines = (details?.printed ?? []).flatMap((text) => text.split("\n", printedMax + 1));
  const shown = lines.slice(0, printedMax).map(clean);
  return lines.length > printedMax ? [...shown, `… more than ${printedMax} lines`] : shown;
}

/** Puts the label before the first line. */
function labelled(label: string, lines: readonly string[], row: (label: string, text: string) => string): string[] {
  return lines.map((line, index) => row(index === 0 ? label : "", line));
}
