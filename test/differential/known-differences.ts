import { ZERO_HASH } from "../../src/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../src/state/account.ts";
import type { DifferentialCase } from "./corpus/request.ts";
import { type Answer, firstDifference, mapMembers } from "./difference.ts";

export type Found = DifferentialCase & { readonly ours: Answer; readonly theirs: Answer };

type Reason = { readonly reason: string; readonly holds: (found: Found) => boolean };

const textOf = ({ error }: Answer): string => (error as { message?: string } | undefined)?.message ?? "";
const codeOf = ({ error }: Answer): unknown => (error as { code?: unknown } | undefined)?.code;
const has = (params: readonly unknown[], pattern: RegExp) => pattern.test(JSON.stringify(params));

/** Later than geth 1.17.0. */
const NEWER_METHODS: ReadonlySet<string> = new Set(["eth_getStorageValues", "eth_baseFee", "eth_capabilities"]);

const isUnselected = (answer: Answer): boolean =>
  textOf(answer).endsWith("must specify either BlockHash or BlockNumber");

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
  const of = (answer: Answer) => mapMembers(withoutVersion(answer), change);
  return firstDifference(of(ours), of(theirs)) === undefined;
}

const CLEARED_HASHES: ReadonlySet<unknown> = new Set([ZERO_HASH, EMPTY_CODE_HASH]);

/** Differences of whole answers that docs/compliance.md lists, or that come from the age of the geth at hand. */
const REASONS: readonly Reason[] = [
  {
    reason: "this geth is too old for the method",
    holds: ({ method, theirs }) => codeOf(theirs) === -32601 && NEWER_METHODS.has(method),
  },
  {
    reason: "geth 1.17.0 shows slots of an SLOAD or SSTORE that fails, and goes on to show them",
    holds: (found) =>
      found.method.startsWith("debug_trace") &&
      /"op":"S(?:LOAD|STORE)",[^{}]*"error":/.test(JSON.stringify(found.ours)) &&
      isEqualWith(found, (name, member) => (name === "storage" ? undefined : member)),
  },
  {
    reason: "geth 1.17.0 shows code that a transaction cleared as the zero hash, without the empty code",
    holds: (found) =>
      found.method.startsWith("debug_trace") &&
      isEqualWith(found, (name, member) => {
        const isCleared = name === "code" ? member === "0x" : name === "codeHash" && CLEARED_HASHES.has(member);
        return isCleared ? undefined : member;
      }),
  },
  {
    reason: "geth counts `limit` in bytes, this node in steps",
    holds: ({ params, method }) => method.startsWith("debug_trace") && has(params, /"limit":/),
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
    reason: "too large a creation that cannot pay for its code is out of gas here",
    holds: ({ ours, theirs }) =>
      has([ours], /contract creation code storage out of gas/) && has([theirs], /max code size exceeded/),
  },
  {
    reason: "the estimate of eth_fillTransaction counts authorizations here",
    holds: ({ method, params }) => method === "eth_fillTransaction" && has(params, /"authorizationList":\[\{/),
  },
  {
    reason: "as newer versions of geth answer: gasPrice with an authorization list",
    holds: ({ ours }) => textOf(ours) === "both gasPrice and authorizationList specified",
  },
  {
    reason: "as newer versions of geth answer: -38012 of eth_simulateV1",
    holds: ({ method, ours, theirs }) =>
      method === "eth_simulateV1" &&
      codeOf(ours) === -38012 &&
      codeOf(theirs) === -32602 &&
      textOf(ours) === textOf(theirs),
  },
  {
    reason: "as newer versions of geth answer: a block selector that is null, empty or absent",
    holds: ({ method, ours, theirs }) => {
      if (/neither block nor hash specified|missing value for required argument 1/.test(textOf(theirs))) {
        return ours.error === undefined || method === "debug_traceCall" || isUnselected(ours);
      }
      return method === "debug_accountRange" && isUnselected(ours) && codeOf(theirs) === -32000;
    },
  },
  {
    reason: "as newer versions of geth answer: CREATE in a static call is out of gas",
    holds: (found) =>
      has([found.ours], /"(?:op|type)":"CREATE2?|"0xf[05]":1/) &&
      has([found.ours], /out of gas: write protection/) &&
      isEqualWith(found, (name, member) =>
        (name === "error" && (member === "write protection" || member === null)) || name === "outOfGas"
          ? undefined
          : member,
      ),
  },
  {
    reason: "as newer versions of geth answer: CREATE in a static call is out of gas",
    holds: (found) =>
      has(found.params, /"convertParityErrors":true/) &&
      has([found.theirs], /"error":"write protection"/) &&
      isEqualWith(found, (name, member) =>
        name === "error" && (member === "write protection" || member === "Out of gas") ? "static" : member,
      ),
  },
  {
    reason: "as newer versions of geth answer: CREATE in a static call is out of gas",
    // The disassembly has the opcode, because geth 1.17.0 runs it.
    holds: ({ params, ours, theirs }) =>
      has(params, /"evmdisTracer"/) &&
      has([ours], /"error":"out of gas: write protection"/) &&
      has([theirs], /"op":24[05],"depth":\d+,"result":\[\]/),
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
    reason: "as newer versions of geth answer: access lists are sorted, which changes hashes",
    holds: (found) =>
      found.method === "eth_createAccessList" &&
      isEqualWith(found, (name, member) =>
        name === "message" ? String(member).replace(/^(failed to apply transaction: )0x\w+/, "$1") : member,
      ),
  },
  {
    reason: "as newer versions of geth answer: at most 1024 storage keys",
    holds: ({ method, ours }) => method === "eth_getProof" && textOf(ours).startsWith("too many storage keys"),
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

/**
 * `answer` without what newer versions of geth answer otherwise than 1.17.0, as the recorded execution-apis conversations show: 0x in
 * struct logs, sorted access lists, sizes in texts, and members that came later.
 */
export function withoutVersion(answer: unknown): unknown {
  if (typeof answer === "string") return withoutSizes(answer);
  if (Array.isArray(answer)) return answer.map(withoutVersion);
  if (typeof answer !== "object" || answer === null) return answer;
  const members = Object.entries(answer).filter(([name]) => name !== "maxUsedGas");
  return Object.fromEntries(
    members.map(([name, value]) => {
      // Sets, in the order of Go's maps.
      if ((name === "codes" || name === "state") && Array.isArray(value)) return [name, [...value].sort()];
      if (name === "accessList" && Array.isArray(value)) return [name, sorted(value)];
      if (name === "memory" && Array.isArray(value)) return [name, value.map(withoutPrefix)];
      if (name === "storage" && "pc" in answer) return [name, storageWithoutPrefix(value)];
      return [name, withoutVersion(value)];
    }),
  );
}

function withoutSizes(text: string): string {
  return text
    .replace(/(code size exceeded|initcode size exceeded):? (code )?size \d+( limit \d+)?/, "$1")
    .replace("out of gas: write protection", "write protection")
    .replace(/^block gas limit reached: (?:\d+ >= \d+|remaining: \d+, required: \d+)$/, "block gas limit reached");
}

function withoutPrefix(word: unknown): unknown {
  return typeof word === "string" ? word.replace(/^0x/, "") : word;
}

function storageWithoutPrefix(storage: unknown): unknown {
  const entries = Object.entries(storage as Record<string, unknown>);
  return Object.fromEntries(entries.map(([key, value]) => [withoutPrefix(key), withoutPrefix(value)]));
}

function sorted(list: readonly unknown[]): readonly unknown[] {
  const texts = list.map((entry) => {
    const { address, storageKeys } = entry as { address: string; storageKeys: readonly string[] };
    return { address, storageKeys: [...storageKeys].sort() };
  });
  return texts.sort((a, b) => (a.address < b.address ? -1 : 1));
}
