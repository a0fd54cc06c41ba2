import { ZERO_HASH } from "../../src/base/primitives/hash.ts";
import type { DifferentialCase } from "./corpus/request.ts";
import { type Answer, firstDifference, mapMembers } from "./difference.ts";

export type Found = DifferentialCase & { readonly ours: Answer; readonly theirs: Answer };

type Reason = { readonly reason: string; readonly holds: (found: Found) => boolean };

const textOf = ({ error }: Answer): string => (error as { message?: string } | undefined)?.message ?? "";
const codeOf = ({ error }: Answer): unknown => (error as { code?: unknown } | undefined)?.code;
const has = (params: readonly unknown[], pattern: RegExp) => pattern.test(JSON.stringify(params));

/** It had the method up to 1.17.0. */
const FORMER_METHODS: ReadonlySet<string> = new Set(["debug_executionWitnessByHash"]);

const PREPARES: ReadonlySet<string> = new Set(["eth_estimateGas", "eth_createAccessList", "eth_fillTransaction"]);

type Witness = {
  readonly headers: readonly unknown[];
  readonly codes: readonly string[] | null;
  readonly state: readonly string[] | null;
};

const isSubset = (part: readonly string[], whole: readonly string[] | null): boolean => {
  const known = new Set(whole);
  return part.every((item) => known.has(item));
};

/** Whether the answers are equal once `change` was made to the members of both. */
function isEqualWith({ ours, theirs }: Found, change: (name: string, member: unknown) => unknown): boolean {
  const of = (answer: Answer) => mapMembers(withSortedSets(answer), change);
  return firstDifference(of(ours), of(theirs)) === undefined;
}

const isNoAccount = (member: unknown): boolean => JSON.stringify(member) === `{"codeHash":"${ZERO_HASH}"}`;

/** Differences of whole answers that docs/compliance.md lists, or that come from the age of the geth at hand. */
const REASONS: readonly Reason[] = [
  {
    reason: "geth has the method no longer",
    holds: ({ method, theirs }) => codeOf(theirs) === -32601 && FORMER_METHODS.has(method),
  },
  {
    reason: "geth shows an account that there is not as the hash 0 after a transaction",
    holds: (found) =>
      found.method.startsWith("debug_trace") &&
      isEqualWith(found, (_, member) => (isNoAccount(member) ? undefined : member)),
  },
  {
    reason: "geth counts `limit` in bytes, this node in steps",
    holds: ({ params, method }) => method.startsWith("debug_trace") && has(params, /"limit":/),
  },
  {
    reason: "more slots than are answered are refused before they are decoded",
    holds: ({ method, ours, theirs }) =>
      method === "eth_getStorageValues" && codeOf(ours) === -38026 && codeOf(theirs) === -32602,
  },
  {
    reason: "scripts have less stack than geth's",
    holds: ({ ours }) => textOf(ours).startsWith("InternalError: stack overflow"),
  },
  {
    reason: "geth takes a negative `timeout` of a trace",
    holds: ({ params, ours }) => has(params, /"timeout":"-/) && codeOf(ours) === -32000,
  },
  {
    reason: "geth shows the chain id of an unsigned legacy transaction as (0 - 35) / 2",
    holds: (found) =>
      isEqualWith(found, (name, member) =>
        name === "chainId" && member === "0x7fffffffffffffee" ? undefined : member,
      ),
  },
  {
    reason:
      "geth takes any legacy v but 0, 1, 27 and 28 for a protected one, whose chain id is (v - 35) / 2 modulo 2^63",
    holds: ({ ours, theirs }) =>
      textOf(ours).startsWith("only replay-protected") &&
      /chain id for signer: have 92233720368547757\d\d /.test(textOf(theirs)),
  },
  {
    reason: "too large a creation that cannot pay for its code is out of gas here",
    holds: ({ ours, theirs }) =>
      has([ours], /contract creation code storage out of gas|Out of gas/) && has([theirs], /max code size exceeded/),
  },
  {
    reason: "geth gives a simulated block before Shanghai a list of withdrawals",
    holds: (found) =>
      found.method === "eth_simulateV1" &&
      !has([found.ours], /"withdrawalsRoot"/) &&
      isEqualWith(found, (name, member) =>
        AFTER_WITHDRAWALS.has(name) ||
        name.startsWith("withdrawals") ||
        (name === "chainId" && member === "0x7fffffffffffffee")
          ? undefined
          : member,
      ),
  },
  {
    reason: "geth makes GASPRICE of eth_call from the base fee of the chain, overridden or not",
    holds: ({ method, params, ours, theirs }) =>
      method === "eth_call" &&
      has(params.slice(3), /"baseFeePerGas":/) &&
      String(ours.result).slice(0, -64) === String(theirs.result).slice(0, -64),
  },
  {
    reason: "texts of JavaScript errors are those of QuickJS",
    holds: (found) =>
      found.method.startsWith("debug_trace") &&
      isEqualWith(found, (name, member) =>
        (name === "error" || name === "message") && typeof member === "string"
          ? member.replace(/^(?:\w*Error: )*(\w*Error)\b[\s\S]*/, "$1")
          : member,
      ),
  },
  {
    reason: "geth fills the lists of eth_feeHistory in no order, so that a block's neighbour may win",
    holds: (found) =>
      found.method === "eth_feeHistory" &&
      isEqualWith(found, (name, member) => (name === "baseFeePerBlobGas" ? undefined : member)) &&
      has([found.theirs], /"baseFeePerBlobGas":\["0x0"/),
  },
  {
    reason: "a limit of this node",
    holds: ({ method, ours }) => method === "eth_getLogs" && codeOf(ours) === -32005,
  },
  {
    reason: "a time beyond 2^53 is too large for a header here",
    holds: ({ method, ours }) =>
      method === "eth_simulateV1" && textOf(ours).startsWith('block override "time" is too large'),
  },
  {
    reason: "a blob fee that the sender cannot pay makes geth's balance wrap around",
    holds: ({ method, params, ours, theirs }) =>
      method === "eth_simulateV1" &&
      has(params, /"blobVersionedHashes":\["/) &&
      codeOf(ours) === -38014 &&
      theirs.error === undefined,
  },
  {
    reason: "an empty list, where geth has none and says null",
    holds: ({ ours, theirs }) => Array.isArray(ours.result) && ours.result.length === 0 && theirs.result === null,
  },
  {
    reason: "geth prints its structure of an unknown block",
    holds: ({ ours, theirs }) => /^block \{/.test(textOf(theirs)) && /^block /.test(textOf(ours)),
  },
  {
    reason: "geth's database and files are not this node's",
    holds: ({ method, ours, theirs }) =>
      (method === "debug_dbGet" || method === "debug_traceBlockFromFile") && codeOf(ours) === codeOf(theirs),
  },
  {
    reason: "every state of an archive can be read",
    holds: ({ method, ours, theirs }) =>
      method === "debug_getAccessibleState" && typeof ours.result === "number" && theirs.error !== undefined,
  },
  {
    reason: "geth shows a refund that a step without the gas for it would have given",
    holds: (found) =>
      has([found.theirs], /"error":"out of gas/) &&
      has([found.theirs], /"refund":/) &&
      isEqualWith(found, (name, member) => (name === "refund" ? undefined : member)),
  },
  {
    reason: "includeEmpty names the address of a CREATE that is rejected before it begins",
    holds: (found) =>
      has(found.params, /"includeEmpty":true/) &&
      isEqualWith(found, (name, member) =>
        name.length === 42 && JSON.stringify(member) === '{"balance":"0x0"}' ? undefined : member,
      ),
  },
  {
    reason: "geth applies moves of precompiles in no order",
    holds: ({ params }) => has(params, /"movePrecompileToAddress".*"movePrecompileToAddress"/),
  },
  {
    reason: "`pending` cannot be traced",
    holds: ({ method, params, ours }) =>
      method === "debug_traceBlockByNumber" && params[0] === "pending" && codeOf(ours) === -32000,
  },
  {
    reason: "geth gives every log of erc7562Tracer the index 0",
    holds: (found) =>
      has(found.params, /"erc7562Tracer"/) &&
      !has([found.theirs], /"index":"0x[1-9a-f]/) &&
      isEqualWith(found, (name, member) => (name === "index" ? undefined : member)),
  },
  {
    reason:
      "a witness has what the execution read of the parent's state, which is more here at times; geth's also has codes of the block itself",
    holds: ({ method, ours, theirs }) => {
      if (!method.startsWith("debug_executionWitness")) return false;
      if (ours.error !== undefined || theirs.error !== undefined) return codeOf(ours) === codeOf(theirs);
      const [own, other] = [ours.result as Witness, theirs.result as Witness];
      return isSubset(other.state ?? [], own.state) && firstDifference(own.headers, other.headers) === undefined;
    },
  },
  {
    reason: "what is prepared runs in the header of the next block",
    holds({ method, params, ours, theirs }) {
      const [, block = null] = params;
      if (!PREPARES.has(method) || block !== null) return false;
      const withoutNumbers = (answer: Answer) => textOf(answer).replace(/\b(0x[0-9a-f]{64}|\d+)\b/g, "N");
      return textOf(ours) !== "" && withoutNumbers(ours) === withoutNumbers(theirs);
    },
  },
  {
    reason: "texts of block RLP that does not decode",
    holds: ({ method, ours, theirs }) =>
      method === "debug_traceBlock" &&
      [ours, theirs].every((answer) => textOf(answer).startsWith("could not decode block: rlp: ")),
  },
  {
    reason: "geth rejects types and fees of later forks on older blocks, and every access list before Berlin",
    holds: ({ theirs }) => /transaction type not supported|not valid before London is active/.test(textOf(theirs)),
  },
  {
    reason: "a limit of time or size of one of them",
    holds: ({ ours, theirs }) =>
      [ours, theirs].some(
        (answer) => codeOf(answer) === -32002 || /^(?:execution timeout|trace is larger)/.test(textOf(answer)),
      ),
  },
  {
    reason: "a nested list that is too long is the list's fault here, the field's in geth",
    holds: ({ method, ours }) =>
      method === "eth_sendRawTransaction" && textOf(ours) === "rlp: element is larger than containing list",
  },
  {
    reason: "numbers above 2^53 - 1 in texts",
    holds: ({ ours }) => textOf(ours).includes(`#${Number.MAX_SAFE_INTEGER} `),
  },
  {
    reason: "a nonce of 2^64 - 1, or a tip near 2^256",
    holds: ({ params, theirs }) =>
      has(params, /0xf{16,64}"/) && /nonce has max value|fee per gas higher/.test(textOf(theirs)),
  },
  {
    reason: "geth moves blocks to its append-only files once a minute",
    holds: ({ method, theirs }) => method === "debug_dbAncient" && theirs.error !== undefined,
  },
  {
    reason: "geth crashes",
    holds: ({ theirs }) => textOf(theirs) === "method handler crashed",
  },
  {
    reason: "without fromBlock eth_getLogs begins at the head",
    holds: ({ method, ours }) => method === "eth_getLogs" && textOf(ours) === "invalid block range params",
  },
];

/** What follows from a header's withdrawals root. */
const AFTER_WITHDRAWALS: ReadonlySet<string> = new Set(["hash", "parentHash", "blockHash", "size"]);

/** The reason for a difference that docs/compliance.md lists; undefined for any other. */
export function knownReason(found: Found): string | undefined {
  return REASONS.find(({ holds }) => holds(found))?.reason;
}

/** `answer` with its sets sorted, which geth has in the order of Go's maps. */
export function withSortedSets(answer: unknown): unknown {
  return mapMembers(answer, (name, member) =>
    (name === "codes" || name === "state") && Array.isArray(member) ? [...member].sort() : member,
  );
}
