import { NodeError } from "../../errors.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { defineMethod } from "../dispatch/method.ts";
import { address, boolean } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { MinerSettings } from "./port.ts";

/** Rewards of the zero address would be lost. */
export class InvalidEtherbaseError extends NodeError {
  readonly code = "MINER_INVALID_ETHERBASE";
  constructor() {
    super("invalid etherbase: the zero address");
  }
}

/** `miner_setEtherbase`: changes who receives the tips of blocks this node proposes, from the next block on and after a restart. */
export const setEtherbase = defineMethod({
  name: "miner_setEtherbase",
  params: { account: address },
  result: boolean,
  private: true,
  handle({ account }, { node }: { node: Pick<MinerSettings, "setEtherbase"> }) {
    if (account === ZERO_ADDRESS) throw new InvalidEtherbaseError();
    return andThen(node.setEtherbase(account), () => true);
  },
});
