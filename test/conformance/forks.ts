import type { Hardfork } from "../../src/base/params/hardforks.ts";

/** Our forks by the names ethereum/tests uses. */
export const FORKS: Readonly<Record<string, Hardfork>> = {
  Frontier: "frontier",
  Homestead: "homestead",
  EIP150: "tangerineWhistle",
  EIP158: "spuriousDragon",
  Byzantium: "byzantium",
  Constantinople: "constantinople",
  ConstantinopleFix: "petersburg",
  Istanbul: "istanbul",
  Berlin: "berlin",
  London: "london",
  Paris: "paris",
  Shanghai: "shanghai",
  Cancun: "cancun",
  Prague: "prague",
  Osaka: "osaka",
  Amsterdam: "amsterdam",
};
