const WEI_DIGITS = 18;
const GWEI_DIGITS = 9;

/** Shown if the node returned an invalid number or time. */
const NONE = "not a number";

/** A number in a node's answer: at most 256 bits, since converting more digits takes more than linear time. */
const NUMBER = /^(?:0x[0-9a-f]{1,64}|-?\d{1,78})$/i;

/** undefined for anything but a number of 256 bits. */
function bigintOf(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  const text = String(value);
  return NUMBER.test(text) ? BigInt(text) : undefined;
}

/** What a transaction paid. */
export function feeText(gasUsed: string, gasPrice: string): string {
  const [gas, price] = [bigintOf(gasUsed), bigintOf(gasPrice)];
  return gas === undefined || price === undefined ? NONE : ether(gas * price);
}

/** `12,345` of a QUANTITY or a number. */
export function count(value: string | number | bigint): string {
  const number = bigintOf(value);
  return number === undefined ? NONE : grouped(String(number));
}

/** `1 node`, `2 nodes`. */
export function counted(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** `12345` as `12,345`. By hand: the first use of a browser's number formats takes tens of milliseconds. */
function grouped(digits: string): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.push(digits.slice(Math.max(0, end - 3), end));
  return groups.reverse().join(",").replace("-,", "-");
}

/** A fixed-point number with `digits` decimals, without trailing zeros and with at most `shown` decimals. */
export function decimal(value: bigint, digits: number, shown = digits): string {
  const sign = value < 0n ? "−" : "";
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, "0");
  const whole = grouped(text.slice(0, text.length - digits));
  const rest = text.slice(text.length - digits).slice(0, shown);
  let end = rest.length;
  while (rest[end - 1] === "0") end--;
  return `${sign}${whole}${end === 0 ? "" : `.${rest.slice(0, end)}`}`;
}

/** wei as ether, with all digits unless `shown` limits the decimals. */
export function ether(wei: string | bigint, shown?: number): string {
  const value = bigintOf(wei);
  return value === undefined ? NONE : `${decimal(value, WEI_DIGITS, shown)} ETH`;
}

/** Smaller amounts are shown in gwei or wei: six decimals of ether would all be zeros. */
const SMALL_WEI = 10n ** 12n;
const WEI_PER_GWEI = 10n ** 9n;

/** An amount for a column: six decimals of ether; small amounts in gwei or wei. */
export function etherShort(wei: string | bigint): string {
  const value = bigintOf(wei);
  if (value === undefined) return NONE;
  if (value === 0n || value >= SMALL_WEI || value < 0n) return ether(value, 6);
  return value < WEI_PER_GWEI / 1000n ? `${count(value)} wei` : `${decimal(value, GWEI_DIGITS, 3)} gwei`;
}

export function gwei(wei: string | bigint): string {
  const value = bigintOf(wei);
  return value === undefined ? NONE : `${decimal(value, GWEI_DIGITS)} gwei`;
}

/** A word without its leading zeros. */
export function shortWord(word: string): string {
  const value = bigintOf(word);
  return value === undefined ? NONE : `0x${value.toString(16)}`;
}

/** `0x1234…cdef` */
export function shortHex(hex: string, digits = 6): string {
  const text = String(hex);
  if (text.length <= 2 * digits + 4) return text;
  return `${text.slice(0, 2 + digits)}…${text.slice(-digits)}`;
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
  if (!Number.isSafeInteger(seconds)) return NONE;
  if (seconds === 0) return "now";
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length)!;
  const text = `${Math.floor(Math.abs(seconds) / length)} ${unit}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** JavaScript's limit (ECMA-262, 21.4.1.1). */
const DATE_MS_MAX = 8.64e15;

export function dateTime(timestamp: string | number): string {
  const milliseconds = Number(timestamp) * 1000;
  if (!(Math.abs(milliseconds) <= DATE_MS_MAX)) return NONE;
  return new Date(milliseconds).toISOString().replace("T", " ").replace(".000Z", " UTC");
}

export function percent(part: string | number | bigint, whole: string | number | bigint): number {
  const share = (100 * Number(part)) / Number(whole);
  return Number.isFinite(share) ? share : 0;
}

/** A percentage that shows 0 or 100 % only if it is exact. */
export function percentText(part: string | number | bigint, whole: string | number | bigint): string {
  const share = percent(part, whole);
  if (share === 0) return "0 %";
  if (share < 0.1) return "< 0.1 %";
  return `${share < 100 ? Math.min(share, 99.9).toFixed(1) : "100"} %`;
}

export function bytesOfHex(hex: string): number {
  return Math.max(0, Math.floor((String(hex).length - 2) / 2));
}
