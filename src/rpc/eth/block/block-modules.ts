import type { ChainView } from "../../ports/chain-view.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

/** What the methods ask for that show whole blocks. */
export type BlockModules = {
  readonly chain: Pick<ChainView, "block">;
  readonly sessions: Pick<Sessions, "blockJson">;
};

export type HeaderModules = {
  readonly chain: Pick<ChainView, "header">;
  readonly sessions: Pick<Sessions, "blockJson">;
};
