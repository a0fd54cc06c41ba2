/**
 * JavaScript that defines `bigInt` inside the script engine: the interface of BigInteger.js, which geth gives to tracers, over
 * the engine's own BigInt. Values print as decimal strings in JSON and become numbers in arithmetic.
 */
export const GUEST_BIG_INT = String.raw`
(() => {
  "use strict";
  const native = (v) => (v instanceof Integer ? v.value : parse(v));
  const wrap = (value) => new Integer(value);
  const abs = (v) => (v < 0n ? -v : v);
  const gcd = (a, b) => { a = abs(a); b = abs(b); while (b !== 0n) { const r = a % b; a = b; b = r; } return a; };
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const floorMod = (a, b) => { const r = a % b; return r < 0n && b > 0n ? r + b : r > 0n && b < 0n ? r + b : r; };
  function nonZero(v) { if (v === 0n) throw new Error("Cannot divide by zero"); return v; }
  function modPow(base, exponent, modulus) {
    nonZero(modulus);
    let result = 1n; let b = base % modulus; let e = exponent;
    if (e < 0n) { b = modInv(b, modulus); e = -e; }
    while (e > 0n) { if (e & 1n) result = (result * b) % modulus; b = (b * b) % modulus; e >>= 1n; }
    return result % modulus;
  }
  function modInv(a, n) {
    let t = 0n, next = 1n, r = n, rest = abs(a);
    while (rest !== 0n) { const q = r / rest; [t, next] = [next, t - q * next]; [r, rest] = [rest, r - q * rest]; }
    if (r !== 1n) throw new Error(a + " and " + n + " are not co-prime");
    if (t < 0n) t += n;
    return a < 0n ? -t : t;
  }
  const WITNESSES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n];
  function isPrime(v) {
    const n = abs(v);
    if (n < 2n) return false;
    for (const p of WITNESSES) { if (n === p) return true; if (n % p === 0n) return false; }
    let d = n - 1n; let s = 0;
    while ((d & 1n) === 0n) { d >>= 1n; s++; }
    next: for (const a of WITNESSES) {
      let x = modPow(a, d, n);
      if (x === 1n || x === n - 1n) continue;
      for (let i = 1; i < s; i++) { x = (x * x) % n; if (x === n - 1n) continue next; }
      return false;
    }
    return true;
  }
  function digits(text, base, alphabet, isCaseSensitive) {
    const known = alphabet || "0123456789abcdefghijklmnopqrstuvwxyz";
    const source = isCaseSensitive ? text : text.toLowerCase();
    const values = []; let at = 0; let sign = 1n;
    if (source[0] === "-") { sign = -1n; at = 1; }
    for (; at < source.length; at++) {
      if (source[at] === "<") {
        const end = source.indexOf(">", at);
        values.push(parse(source.slice(at + 1, end))); at = end; continue;
      }
      const value = known.indexOf(source[at]);
      if (value < 0 || (base > 1n && BigInt(value) >= base)) throw new Error(source[at] + " is not a valid digit in base " + base + ".");
      values.push(BigInt(value));
    }
    return sign * fromDigits(values, base);
  }
  const fromDigits = (values, base) => values.reduce((sum, value) => sum * base + value, 0n);
  function parse(v, base, alphabet, isCaseSensitive) {
    if (v === undefined) return 0n;
    if (v instanceof Integer) return v.value;
    if (typeof v === "bigint") return v;
    if (base !== undefined && native(base) !== 10n && (typeof v === "string" || typeof v === "number")) {
      const radix = native(base);
      return radix === 16n && !alphabet && /^[0-9a-fA-F]+$/.test(v) ? BigInt("0x" + v) : digits(String(v), radix, alphabet, isCaseSensitive);
    }
    if (typeof v === "number") {
      if (v !== Math.trunc(v) || !isFinite(v)) throw new Error(v + " is not an integer.");
      return BigInt(v);
    }
    const text = String(v);
    if (/^[+-]?\d+$/.test(text)) return BigInt(text[0] === "+" ? text.slice(1) : text);
    const parts = /^([+-]?)(\d*)(?:\.(\d*))?[eE]\+?(\d+)$/.exec(text);
    if (!parts || (parts[3] || "").length > Number(parts[4])) throw new Error("Invalid integer: " + text);
    const fraction = parts[3] || "";
    const size = BigInt(parts[2] + fraction) * 10n ** BigInt(Number(parts[4]) - fraction.length);
    return parts[1] === "-" ? -size : size;
  }
  function inBase(value, base) {
    const radix = native(base);
    if (radix >= 2n && radix <= 36n) return value.toString(Number(radix));
    const { value: list, isNegative } = toArray(value, radix);
    return (isNegative ? "-" : "") + list.map((d) => (d < 36 ? d.toString(36) : "<" + d + ">")).join("");
  }
  function toArray(value, radix) {
    if (radix === 0n && value !== 0n) throw new Error("Cannot convert nonzero numbers to base 0.");
    if (radix === 1n || radix === 0n) return { value: Array(Number(abs(value))).fill(1), isNegative: value < 0n };
    const list = [];
    if (radix < 0n) {
      for (let v = value; v !== 0n; ) { const d = floorMod(v, -radix); list.push(Number(d)); v = (v - d) / radix; }
      return { value: list.length ? list.reverse() : [0], isNegative: false };
    }
    for (let v = abs(value); v !== 0n; v /= radix) list.push(Number(v % radix));
    return { value: list.length ? list.reverse() : [0], isNegative: value < 0n };
  }
  class Integer {
    constructor(value) { Object.defineProperty(this, "value", { value, enumerable: false }); }
    abs() { return wrap(abs(this.value)); }
    add(v) { return wrap(this.value + native(v)); }
    subtract(v) { return wrap(this.value - native(v)); }
    multiply(v) { return wrap(this.value * native(v)); }
    divide(v) { return wrap(this.value / nonZero(native(v))); }
    mod(v) { return wrap(this.value % nonZero(native(v))); }
    divmod(v) { return { quotient: this.divide(v), remainder: this.mod(v) }; }
    pow(v) {
      const e = native(v);
      if (e < 0n) return wrap(this.value === 1n ? 1n : this.value === -1n ? (e & 1n ? -1n : 1n) : 0n);
      return wrap(this.value ** e);
    }
    modPow(e, m) { return wrap(modPow(this.value, native(e), native(m))); }
    modInv(m) { return wrap(modInv(this.value, native(m))); }
    square() { return wrap(this.value * this.value); }
    negate() { return wrap(-this.value); }
    next() { return wrap(this.value + 1n); }
    prev() { return wrap(this.value - 1n); }
    and(v) { return wrap(this.value & native(v)); }
    or(v) { return wrap(this.value | native(v)); }
    xor(v) { return wrap(this.value ^ native(v)); }
    not() { return wrap(~this.value); }
    shiftLeft(v) { return wrap(this.value << native(v)); }
    shiftRight(v) { return wrap(this.value >> native(v)); }
    bitLength() { const v = this.value < 0n ? -this.value - 1n : this.value; return wrap(v === 0n ? 0n : BigInt(v.toString(2).length)); }
    compare(v) { return v === Infinity ? -1 : v === -Infinity ? 1 : compare(this.value, native(v)); }
    compareAbs(v) { return v === Infinity || v === -Infinity ? -1 : compare(abs(this.value), abs(native(v))); }
    equals(v) { return this.value === native(v); }
    notEquals(v) { return this.value !== native(v); }
    greater(v) { return this.compare(v) > 0; }
    lesser(v) { return this.compare(v) < 0; }
    greaterOrEquals(v) { return this.compare(v) >= 0; }
    lesserOrEquals(v) { return this.compare(v) <= 0; }
    isEven() { return (this.value & 1n) === 0n; }
    isOdd() { return (this.value & 1n) === 1n; }
    isPositive() { return this.value > 0n; }
    isNegative() { return this.value < 0n; }
    isUnit() { return abs(this.value) === 1n; }
    isZero() { return this.value === 0n; }
    isDivisibleBy(v) { const d = native(v); return d !== 0n && this.value % d === 0n; }
    isPrime() { return isPrime(this.value); }
    isProbablePrime() { return isPrime(this.value); }
    toArray(base) { return toArray(this.value, native(base)); }
    toJSNumber() { return Number(this.value); }
    toString(base) { return base === undefined ? this.value.toString() : inBase(this.value, base); }
    toJSON() { return this.value.toString(); }
    valueOf() { return Number(this.value); }
  }
  const ALIASES = {
    plus: "add", minus: "subtract", times: "multiply", over: "divide", remainder: "mod", compareTo: "compare",
    eq: "equals", neq: "notEquals", gt: "greater", lt: "lesser", geq: "greaterOrEquals", leq: "lesserOrEquals",
  };
  for (const alias of Object.keys(ALIASES)) {
    Object.defineProperty(Integer.prototype, alias, { value: Integer.prototype[ALIASES[alias]], writable: true, configurable: true });
  }
  function bigInt(v, base, alphabet, isCaseSensitive) {
    return v instanceof Integer && base === undefined ? v : wrap(parse(v, base, alphabet, isCaseSensitive));
  }
  bigInt.prototype = Integer.prototype;
  for (let i = -999; i < 1000; i++) bigInt[i] = wrap(BigInt(i));
  bigInt.one = bigInt[1]; bigInt.zero = bigInt[0]; bigInt.minusOne = bigInt[-1];
  bigInt.max = (a, b) => { a = bigInt(a); b = bigInt(b); return a.greater(b) ? a : b; };
  bigInt.min = (a, b) => { a = bigInt(a); b = bigInt(b); return a.lesser(b) ? a : b; };
  bigInt.gcd = (a, b) => wrap(gcd(native(a), native(b)));
  bigInt.lcm = (a, b) => { const x = abs(native(a)), y = abs(native(b)); return wrap(x === 0n || y === 0n ? 0n : (x / gcd(x, y)) * y); };
  bigInt.isInstance = (v) => v instanceof Integer;
  bigInt.fromArray = (list, base, isNegative) => {
    const value = fromDigits(list.map(native), base === undefined ? 10n : native(base));
    return wrap(isNegative ? -value : value);
  };
  bigInt.randBetween = (a, b) => {
    const low = native(bigInt.min(a, b)), high = native(bigInt.max(a, b));
    let random = 0n;
    for (let span = high - low + 1n; span > 0n; span >>= 30n) random = (random << 30n) | BigInt(Math.floor(Math.random() * 2 ** 30));
    return wrap(low + (random % (high - low + 1n)));
  };
  return bigInt;
})()
`;
