import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import type { NodeAdmin } from "./port.ts";

/** `admin_datadir`: absolute path of the home. */
export const datadir = defineMethod({
  name: "admin_datadir",
  params: {},
  result: string,
  private: true,
  handle: (_params, { node }: { node: Pick<NodeAdmin, "dataDirectory"> }) => node.dataDirectory(),
});
