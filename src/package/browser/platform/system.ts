import { web } from "../web.ts";

/** The part of `node:os` that settings and folders need. */
export function homedir(): string {
  return "/home";
}

export function tmpdir(): string {
  return "/tmp";
}

export function availableParallelism(): number {
  return web.navigator?.hardwareConcurrency ?? 1;
}

/** `node:net`'s `isIP`, with which settings distinguish addresses from names. */
export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return text.includes(":") && isIPv6(text) ? 6 : 0;
}

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256);
}

function isIPv6(text: string): boolean {
  try {
    return new URL(`http://[${text}]`).hostname !== "";
  } catch {
    return false;
  }
}

/** `node:v8`: a page cannot set flags of its engine, and code works without them. */
export function setFlagsFromString(_flags: string): void {}
