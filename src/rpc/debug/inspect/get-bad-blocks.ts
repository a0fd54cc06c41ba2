import { bytesToHex } from "../../../primitives/hex.ts";
import { encodeBlock } from "../../../types/block-codec.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockText } from "../../json/block-json.ts";
import { rawJson } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

/** `debug_getBadBlocks`: blocks that were rejected because they break a rule, since the node was started; the newest ones (a hundred), the highest first. */
export const getBadBlocks = defineMethod({
  name: "debug_getBadBlocks",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (
    _params,
    {
      inspection,
      sessions,
    }: {
      inspection: Pick<InspectionPort, "badBlocks">;
      sessions: { readonly blockJson: Pick<Sessions["blockJson"], "style"> };
    },
  ) =>
    andThen(inspection.badBlocks(), (blocks) => {
      const entries = blocks.map((executed) => {
        const { block } = executed;
        const text = blockText(executed, true, sessions.blockJson.style);
        return `{"hash":"${block.hash}","block":${text},"rlp":"${bytesToHex(encodeBlock(block))}"}`;
      });
      return `[${entries.join(",")}]`;
    }),
});
