import type { Config } from "../../config/config.ts";
import type { SubmissionRules } from "../../mempool/submission.ts";

export function submissionRulesOf({
  txFeeWeiMax,
  allowUnprotected,
}: Config["jsonRpc"]): SubmissionRules {
  return { txFeeWeiMax, allowUnprotected };
}
