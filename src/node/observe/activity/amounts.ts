const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;

/** `12,345` */
export function countText(count: number | bigint): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `10,000` or `0.5`: exact, in ether. `toLocaleString` takes 12 ms for the first number of a process. */
export function etherText(wei: bigint): string {
  return decimalText(wei, ETHER, 18);
}

/** Exact, in the unit with the fewest zeros: `1.5 ETH`, `20 gwei`, `3 wei`. */
export function amountText(wei: bigint): string {
  if (wei === 0n) return "0 ETH";
  if (wei < GWEI / 1_000n) return `${countText(wei)} wei`;
  if (wei < ETHER / 1_000_000n) return `${decimalText(wei, GWEI, 9)} gwei`;
  return `${etherText(wei)} ETH`;
}

/** A fee or a price, with four significant digits. */
export function roundedAmountText(wei: bigint): string {
  const digits = wei.toString().length;
  const unit = 10n ** BigInt(Math.max(0, digits - 4));
  return amountText(((wei + unit / 2n) / unit) * unit);
}

/** `12.5%` of `whole`; empty if that is zero. */
export function shareText(part: bigint, whole: bigint): string {
  if (whole === 0n) return "";
  const tenths = Number((part * 1_000n) / whole);
  if (tenths === 0 && part > 0n) return "<0.1%";
  return `${tenths < 100 ? tenths / 10 : Math.floor(tenths / 10)}%`;
}

function decimalText(value: bigint, unit: bigint, digits: number): string {
  const fraction = (value % unit).toString().padStart(digits, "0").replace(/0+$/, "");
  return `${countText(value / unit)}${fraction && "."}${fraction}`;
}
