/** `node:net`'s `isIP`, by which settings tell addresses from names. */
export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return text.includes(":") && isIPv6(text) ? 6 : 0;
}

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return (
    parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)
  );
}

function isIPv6(text: string): boolean {
  try {
    return new URL(`http://[${text}]`).hostname !== "";
  } catch {
    return false;
  }
}
