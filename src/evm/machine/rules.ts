import { EXP_BYTE_FRONTIER_GAS, EXP_BYTE_GAS } from "../../base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";

/** What the emitters and the driver ask about a fork, beyond which opcodes it has and their static gas. */
export type Rules = {
  readonly hardfork: Hardfork;
  /** EIP-2: a creation that cannot pay its deposit fails, instead of leaving an account without code */
  readonly homestead: boolean;
  /** EIP-150: a caller keeps a 64th of its gas */
  readonly eip150: boolean;
  /** EIP-158 and 161: no empty accounts; EIP-170: code size limit */
  readonly eip158: boolean;
  /** EIP-160 */
  readonly expByteGas: bigint;
  /** Net gas metering of SSTORE: EIP-1283 in Constantinople only, EIP-2200 from Istanbul */
  readonly sstore: "frontier" | "eip1283" | "eip2200";
  /** EIP-2929: warm and cold access */
  readonly eip2929: boolean;
  /** EIP-3529: smaller refunds */
  readonly eip3529: boolean;
  /** EIP-3541: no new code beginning with 0xef */
  readonly eip3541: boolean;
  /** EIP-3860: init code is metered and limited */
  readonly eip3860: boolean;
  /** EIP-6780: SELFDESTRUCT deletes only what the transaction created */
  readonly eip6780: boolean;
  /** EIP-7702: delegations */
  readonly eip7702: boolean;
  /** EIP-7708: a transfer of ether leaves a log */
  readonly eip7708: boolean;
  /** EIP-8037: separate gas pays for the growth of the state; EIP-8038: prices of access; EIP-7928: their order */
  readonly eip8037: boolean;
  /** EIP-8246: SELFDESTRUCT burns nothing */
  readonly eip8246: boolean;
};

/** The rules of `hardfork`. */
export function rulesOf(hardfork: Hardfork): Rules {
  const since = (first: Hardfork) => RULES_AT[hardfork][first];
  return {
    hardfork,
    homestead: since("homestead"),
    eip150: since("tangerineWhistle"),
    eip158: since("spuriousDragon"),
    expByteGas: since("spuriousDragon") ? EXP_BYTE_GAS : EXP_BYTE_FRONTIER_GAS,
    sstore: since("istanbul") ? "eip2200" : hardfork === "constantinople" ? "eip1283" : "frontier",
    eip2929: since("berlin"),
    eip3529: since("london"),
    eip3541: since("london"),
    eip3860: since("shanghai"),
    eip6780: since("cancun"),
    eip7702: since("prague"),
    eip7708: since("amsterdam"),
    eip8037: since("amsterdam"),
    eip8246: since("amsterdam"),
  };
}
