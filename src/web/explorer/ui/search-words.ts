/** Forms of a word in a search or an address. */
export function isHash(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text);
}

export function isAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text);
}

/** The number of a block, in decimal. */
export function isBlockNumber(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}
