import { NodeError } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { ForkHeaderError, ForkProofError, ForkUnverifiableError } from "./errors.ts";
import { fetchRemoteCalls, PLAIN_ACCESS, type RemoteAccess, remoteName } from "./fetch-remote-calls.ts";
import { type ForkAccounts, type ForkBlock, type ForkPoint, readForkBlock, readForkPoint } from "./fork-point.ts";
import { planProvenReads } from "./proven-reads.ts";
import { type PlanReads, planPlainReads } from "./remote-results.ts";
import { remoteRulesOf } from "./remote-rules.ts";

/** Whether the state of a remote chain must be proven: where its nodes can, always, never. */
export const FORK_VERIFY_MODES = ["auto", "on", "off"] as const;
type ForkVerifyMode = (typeof FORK_VERIFY_MODES)[number];

/** For the answer to `eth_config`. */
const CONFIGURATION_MS = 3_000;

type ForkPointOptions = {
  readonly urls: readonly string[];
  readonly verify: ForkVerifyMode;
  /** undefined: the newest block */
  readonly blockNumber: number | undefined;
  readonly accounts: ForkAccounts;
  readonly access?: RemoteAccess;
  /** undefined: the one that the nodes report */
  readonly chainId?: bigint | undefined;
};

/** How the state after the block of `point` is read. */
export function planReadsOf({ header }: Pick<ForkBlock, "header">, isVerified: boolean): PlanReads {
  return isVerified ? planProvenReads(header.stateRoot, toQuantity(header.number)) : planPlainReads;
}

/**
 * Reads the point to continue from the nodes at `urls`, with proofs where they serve them.
 * @throws ForkRemoteError, ForkHeaderError, ForkProofError; ForkUnverifiableError where proofs are demanded and not served
 */
export async function chooseForkPoint(
  { urls, verify, blockNumber, accounts, access, chainId }: ForkPointOptions,
  { log, timers }: { readonly log: Logger; readonly timers: Timers },
): Promise<{ readonly point: ForkPoint; readonly isVerified: boolean }> {
  const [{ fieldsHash, unknownMembers, ...readBlock }, configuration] = await Promise.all([
    readForkBlock(fetchRemoteCalls({ urls, access, isFirstContact: true }, timers), blockNumber, chainId),
    readConfiguration(urls, access, timers),
  ]);
  const { rules, unknown } = remoteRulesOf(configuration, readBlock);
  const block: ForkBlock = { ...readBlock, rules };
  const read = (isVerified: boolean) => {
    const planReads = planReadsOf(block, isVerified);
    return readForkPoint(fetchRemoteCalls({ urls, access, planReads }, timers), block, accounts);
  };
  const remote = urls.map(remoteName).join(", ");
  if (unknown.length > 0) {
    log.warn("the remote chain has rules that this version does not know", { remote, unknown: unknown.join(", ") });
  }
  if (verify === "off") {
    log.info("fork is not verified: --fork-verify is off", { remote });
    return { point: await read(false), isVerified: false };
  }
  const reason = unprovableReason(block, fieldsHash, unknownMembers);
  if (reason !== undefined) {
    if (verify === "on") throw new ForkHeaderError(`${remote}: ${reason}`, { hash: block.hash });
    log.warn("fork is not verified", { remote, reason });
    return { point: await read(false), isVerified: false };
  }
  try {
    return { point: await read(true), isVerified: true };
  } catch (error) {
    if (!(error instanceof NodeError) || error instanceof ForkProofError) throw error;
    if (verify === "on") throw unverifiable(remote, error);
    // Where the nodes do not answer at all, this fails too.
    const point = await read(false);
    const reason = error.message;
    log.warn("fork is not verified: its remote node serves no proofs", { remote, reason });
    return { point, isVerified: false };
  }
}

/** The nodes' answer to `eth_config`, with a short timeout, because most nodes lack the method; undefined if none. */
async function readConfiguration(
  urls: readonly string[],
  access: RemoteAccess | undefined,
  timers: Timers,
): Promise<unknown> {
  const once = { ...(access ?? PLAIN_ACCESS), retries: 0, timeoutMs: CONFIGURATION_MS };
  const call = fetchRemoteCalls({ urls, access: once }, timers);
  return call([{ method: "eth_config", params: [] }]).then(
    ([result]) => result,
    () => undefined,
  );
}

/** Why no proof can hold under the state root of `block`; undefined: nothing is known against it. */
function unprovableReason(
  { header, hash }: ForkBlock,
  fieldsHash: Hash,
  unknownMembers: readonly string[],
): string | undefined {
  if (hash !== fieldsHash) {
    const unknown = unknownMembers.length === 0 ? "" : ` (this version does not know ${unknownMembers.join(", ")})`;
    return `its block has not the hash of its fields, as on chains with other headers${unknown}`;
  }
  // anvil's, whose accounts are there anyway.
  return header.stateRoot === EMPTY_TRIE_ROOT ? "its block has the root of an empty state" : undefined;
}

function unverifiable(remote: string, cause: NodeError): ForkUnverifiableError {
  return new ForkUnverifiableError(
    `${remote} serves no proofs of its state (eth_getProof), which --fork-verify on demands: ${cause.message}`,
    { remote },
    { cause },
  );
}
