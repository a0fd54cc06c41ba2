import { DEFAULT_BLOB_SCHEDULE } from "../../base/params/blob-schedule.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";
import { isJsonObject, type JsonObject, whole } from "../../base/primitives/shape.ts";
import type { Header } from "../../base/types/header.ts";
import { ruleNames } from "../../chain/fork-config.ts";
import { bigintOf } from "./remote-json.ts";

export type ShownHardfork = Extract<Hardfork, "cancun" | "prague" | "osaka" | "amsterdam">;
/** Forks that a remote chain's configuration shows: those before have neither system contracts nor blobs. Newest first. */
const SHOWN_HARDFORKS = HARDFORKS.slice(HARDFORKS.indexOf("cancun")).reverse() as ShownHardfork[];

/** The rules of the blocks of a remote chain. */
export type RemoteRules = {
  readonly hardfork: ShownHardfork;
  /** The entry of `DEFAULT_BLOB_SCHEDULE` that the chain has; left out: another one. */
  readonly blobSchedule?: string;
};

export type ReadRules = {
  /** undefined: the configuration is not about the block, or is not believed. */
  readonly rules: RemoteRules | undefined;
  /** Rules at the head and after the next fork that this version lacks. */
  readonly unknown: readonly string[];
};

const NO_RULES: ReadRules = { rules: undefined, unknown: [] };
/** Names of contracts are printed. */
const NAME = /^[A-Za-z0-9_]{1,64}$/;
const NAMES_MAX = 64;

/**
 * The rules of `block`, by what its node answered to `eth_config` (EIP-7910). The answer names no fork: the fork is the newest one whose precompiles and system
 * contracts all are there. An answer that contradicts the header or is in another form does not count.
 */
export function remoteRulesOf(
  json: unknown,
  { chainId, header }: { readonly chainId: bigint; readonly header: Header },
): ReadRules {
  if (!isJsonObject(json)) return NO_RULES;
  const current = shownRules(json["current"], chainId);
  if (current === undefined) return NO_RULES;
  const next = shownRules(json["next"], chainId);
  const from = next && new Date(1000 * next.activationTime).toISOString();
  const unknown = [...current.unknown, ...(next?.unknown ?? []).map((name) => `${name} from ${from}`)];
  const { hardfork } = current.rules;
  const isOfHeader =
    RULES_AT[hardfork].amsterdam === (header.slotNumber !== undefined) &&
    RULES_AT[hardfork].prague === (header.requestsHash !== undefined) &&
    header.parentBeaconBlockRoot !== undefined;
  const isActive = current.activationTime <= header.timestamp;
  return { rules: isActive && isOfHeader ? current.rules : undefined, unknown };
}

type Shown = {
  readonly activationTime: number;
  readonly rules: RemoteRules;
  readonly unknown: readonly string[];
};

function shownRules(json: unknown, chainId: bigint): Shown | undefined {
  try {
    if (!isJsonObject(json) || bigintOf(json["chainId"]) !== chainId) return undefined;
    const activationTime = json["activationTime"] as number;
    // Its date is printed.
    if (whole(activationTime) !== undefined || activationTime >= 2 ** 40) return undefined;
    const names = [...namesOf(json["precompiles"]), ...namesOf(json["systemContracts"])];
    const hardfork = SHOWN_HARDFORKS.find((each) => [...ruleNames(each)].every((name) => names.includes(name)));
    if (hardfork === undefined) return undefined;
    const known = ruleNames(hardfork);
    const blobs = blobScheduleOf(json["blobSchedule"] as JsonObject);
    return {
      activationTime,
      rules: { hardfork, ...(blobs.name !== undefined && { blobSchedule: blobs.name }) },
      unknown: [
        ...names.filter((name) => !known.has(name)),
        ...(blobs.name === undefined ? [`blob schedule ${blobs.text}`] : []),
      ],
    };
  } catch {
    return undefined;
  }
}

function namesOf(json: unknown): readonly string[] {
  const names = Object.keys(json as JsonObject);
  if (names.length > NAMES_MAX || !names.every((name) => NAME.test(name))) throw new Error("other names");
  return names;
}

/** Parameters of no fork are not used: the blob base fee of some of them takes minutes to compute. */
function blobScheduleOf({ target, max, baseFeeUpdateFraction }: JsonObject) {
  const values = [target, max, baseFeeUpdateFraction];
  if (!values.every((value) => Number.isSafeInteger(value))) throw new Error("other blob parameters");
  const known = Object.entries(DEFAULT_BLOB_SCHEDULE).find(([, params]) => {
    return (
      params.target === target && params.max === max && params.baseFeeUpdateFraction === BigInt(values[2] as number)
    );
  });
  return { name: known?.[0], text: `${target}/${max}/${baseFeeUpdateFraction}` };
}

/** What `fork.json` has of rules. @throws Error for another form */
export function storedRules(json: unknown): RemoteRules {
  const { hardfork, blobSchedule } = json as RemoteRules;
  const isKnown = SHOWN_HARDFORKS.includes(hardfork) && Object.hasOwn(DEFAULT_BLOB_SCHEDULE, blobSchedule ?? "osaka");
  if (!isKnown) throw new Error("unknown rules");
  return { hardfork, ...(blobSchedule !== undefined && { blobSchedule }) };
}
