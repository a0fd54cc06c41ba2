import { defineMethod } from "../../dispatch/method.ts";
import { data, hash } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/**
 * `eth_sendRawTransaction`: hands a signed transaction, a type 3 with its blobs, to the pool; its hash.
 *
 * @throws the decoder's, the pool's and the submission rules' rejections
 */
export const sendRawTransaction = defineMethod({
  name: "eth_sendRawTransaction",
  params: { raw: data },
  result: hash,
  handle: ({ raw }, { chain }: { chain: Pick<ChainView, "submit"> }) => chain.submit(raw),
});
