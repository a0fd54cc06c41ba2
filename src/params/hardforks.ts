/** Every set of execution rules we know, oldest first. Blob parameter forks (EIP-7892) change no rule and are not here. */
export const HARDFORKS = [
  "frontier",
  "homestead",
  "tangerineWhistle",
  "spuriousDragon",
  "byzantium",
  "constantinople",
  "petersburg",
  "istanbul",
  "berlin",
  "london",
  "paris",
  "shanghai",
  "cancun",
  "prague",
  "osaka",
] as const;

export type Hardfork = (typeof HARDFORKS)[number];

const ORDER: Readonly<Record<Hardfork, number>> = Object.fromEntries(
  HARDFORKS.map((name, index) => [name, index]),
) as Record<Hardfork, number>;

/** True when the rules of `fork` include those of `since`. */
export function isAtLeast(fork: Hardfork, since: Hardfork): boolean {
  return ORDER[fork] >= ORDER[since];
}
