import { checkSignatures, type TrustedValidators } from "../verify/signatures.ts";
import { unverified, type Verdict } from "../verify/verdict.ts";
import { count } from "./format.ts";
import { call, RpcError } from "./rpc.ts";
import { TRUST } from "./trust.ts";
import type { Block } from "./types.ts";

/** Who decided a block, in words, and whether their signatures show it; no verdict where nobody signs. */
export type Decision = { readonly text: string; readonly verdict: Verdict | undefined };

/** "Method not supported" (EIP-1474): the node's answer on a chain that one process decides. */
const NOT_SUPPORTED = -32004;

/**
 * Checks the signatures that commit to `block`. undefined: this node has no method for them
 * @param header the verdict of its header
 */
export async function checkDecision(block: Block, header: Verdict): Promise<Decision | undefined> {
  const number = Number(block.number);
  let lightBlock: unknown;
  try {
    lightBlock = await call("clique_getLightBlock", block.number);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.isForbidden) return undefined;
    return error.code === NOT_SUPPORTED
      ? { text: "by one process: nobody else signs", verdict: undefined }
      : { text: "signatures are missing", verdict: unverified(error.message) };
  }
  if (lightBlock === null) {
    const verdict = unverified("the header that commits to a block is signed after it");
    return { text: `signatures come with block ${count(number + 1)}`, verdict };
  }
  const trusted = await TRUST.validators();
  const { verdict, signers, validators, percent, accepted } = checkSignatures(
    lightBlock,
    { number, hash: block.hash },
    trusted,
  );
  // Of a block in another chain than the trusted one anybody may be a validator.
  if (header.kind === "verified" && accepted && isNewer(accepted, trusted)) {
    await TRUST.trustValidators(accepted);
  }
  return {
    text: `signed by ${count(signers)} of ${count(validators)} validators, ${percent} % of power`,
    verdict,
  };
}

function isNewer({ height }: TrustedValidators, trusted: TrustedValidators | undefined): boolean {
  return trusted === undefined || height > trusted.height;
}
