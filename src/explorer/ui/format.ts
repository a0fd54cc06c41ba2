const WEI_DIGITS = 18;
const GWEI_DIGITS = 9;

/** `12,345` of a QUANTITY or a number. */
export function count(value: string | number | bigint): string {
  return grouped(String(BigInt(value)));
}

/** `12345` as `12,345`. By hand: the first use of a browser's number formats takes tens of milliseconds. */
function grouped(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A fixed-point number with `digits` decimals, without zeros at its end and with at most `shown` decimals. */
export function decimal(value: bigint, digits: number, shown = digits): string {
  const sign = value < 0n ? "−" : "";
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, "0");
  const whole = grouped(text.slice(0, text.length - digits));
  const rest = text
    .slice(text.length - digits)
    .slice(0, shown)
    .replace(/0+$/, "");
  return `${sign}${whole}${rest === "" ? "" : `.${rest}`}`;
}

/** wei as ether, every digit of it unless `shown` says how many. */
export function ether(wei: string | bigint, shown?: number): string {
  return `${decimal(BigInt(wei), WEI_DIGITS, shown)} ETH`;
}

export function gwei(wei: string | bigint): string {
  return `${decimal(BigInt(wei), GWEI_DIGITS)} gwei`;
}

/** `0x1234…cdef` */
export function shortHex(hex: string, digits = 6): string {
  return hex.length <= 2 * digits + 4 ? hex : `${hex.slice(0, 2 + digits)}…${hex.slice(-digits)}`;
}

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** `5 s ago` or `in 5 s` of seconds since 1970. */
export function age(timestamp: string | number, now = Date.now() / 1000): string {
  const seconds = Math.round(now - Number(timestamp));
  if (seconds === 0) return "now";
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length)!;
  const text = `${Math.floor(Math.abs(seconds) / length)} ${unit}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

export function dateTime(timestamp: string | number): string {
  return new Date(Number(timestamp) * 1000)
    .toISOString()
    .replace("T", " ")
    .replace(".000Z", " UTC");
}

export function percent(part: string | number | bigint, whole: string | number | bigint): number {
  return Number(whole) === 0 ? 0 : (100 * Number(part)) / Number(whole);
}

export function bytesOfHex(hex: string): number {
  return (hex.length - 2) / 2;
}
