import { DEFAULT_BLOB_SCHEDULE } from "../../base/params/blob-schedule.ts";
import type { ChainConfig, UnknownFork } from "../../base/params/chain-config.ts";
import { assertForkOrder } from "../../base/params/genesis-config.ts";
import { InvalidGenesisError } from "../../base/params/genesis-json.ts";
import { TIME_FORK_FIELDS } from "../../base/params/hardforks.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { isForkName, type Parameter, readAgreement } from "./agreement.ts";

/**
 * The rules of a genesis file with what the validators agreed on up to the head.
 *
 * `config` stays the same object while the chain is open. Its fields change with the head, so modules read each field when they need it.
 * The rules of existing blocks never change: a fork is agreed on before it begins.
 */
export class AgreedConfig {
  readonly config: ChainConfig;
  readonly #file: ChainConfig;

  /** @param file the rules of the genesis file, without what was agreed since */
  constructor(file: ChainConfig) {
    this.#file = file;
    this.config = { ...file };
  }

  /** Takes over what is agreed in the state after the head. */
  follow(state: Pick<StateReader, "storage">): void {
    const next = agreedConfig(this.#file, readAgreement(state).values);
    const live = this.config as Record<string, unknown>;
    for (const key of Object.keys(live)) if (!(key in next)) delete live[key];
    Object.assign(live, next);
  }
}

/** The same in a thread or process that follows a store: what is agreed is read again when the head has moved. */
export class FollowedConfig {
  readonly #agreed: AgreedConfig;
  #head: number | undefined;
  #epoch: number | undefined;

  /** @param file the rules of the genesis file */
  constructor(file: ChainConfig) {
    this.#agreed = new AgreedConfig(file);
  }

  get config(): ChainConfig {
    return this.#agreed.config;
  }

  /** After each `catchUp` of `store`. */
  follow(store: { readonly epoch: number; head(): number; stateAt(number: number): StateReader }): void {
    const head = store.head();
    const { epoch } = store;
    if (head === this.#head && epoch === this.#epoch) return;
    this.#agreed.follow(store.stateAt(head));
    this.#head = head;
    this.#epoch = epoch;
  }
}

/** `file` with agreed values. A fork that this program cannot execute is its `unknownFork`. */
export function agreedConfig(file: ChainConfig, values: readonly Parameter[]): ChainConfig {
  let config: ChainConfig = file;
  let unknownFork: UnknownFork | undefined;
  for (const { name, value } of values) {
    if (!isForkName(name)) {
      config = { ...config, ...parameterField(name, value) };
      continue;
    }
    const time = Number(value);
    if (time === 0) {
      const { [name as keyof ChainConfig]: _, ...others } = config;
      config = others as ChainConfig;
      continue;
    }
    const scheduled = withFork(config, name, time);
    if (scheduled !== undefined) config = scheduled;
    else if (unknownFork === undefined || time < unknownFork.time) unknownFork = { name, time };
  }
  return unknownFork === undefined ? config : { ...config, unknownFork };
}

/** undefined where this program does not know the fork, nor its blob limits, or has other forks after it. */
export function withFork(config: ChainConfig, name: string, time: number): ChainConfig | undefined {
  if (!(TIME_FORK_FIELDS as readonly string[]).includes(name)) return undefined;
  const fork = name.slice(0, -"Time".length);
  const preset = DEFAULT_BLOB_SCHEDULE[fork];
  if (fork.startsWith("bpo") && !preset && !config.blobSchedule[fork]) return undefined;
  // As in genesis files: Osaka changes no blob limit.
  const needsPreset = preset !== undefined && config.blobSchedule[fork] === undefined && fork !== "osaka";
  const scheduled = {
    ...config,
    [name]: time,
    ...(needsPreset && { blobSchedule: { ...config.blobSchedule, [fork]: preset } }),
  };
  try {
    assertForkOrder(scheduled);
    return scheduled;
  } catch (error) {
    if (error instanceof InvalidGenesisError) return undefined;
    throw error;
  }
}

function parameterField(name: string, value: bigint): Partial<ChainConfig> {
  switch (name) {
    case "gasLimit":
      return { gasLimitTarget: value };
    case "minimumTip":
      return { minimumTip: value };
    case "blockPeriodMs":
      return { blockPeriodMs: Number(value) };
    case "evidenceAgeSeconds":
      return { evidenceAgeSeconds: Number(value) };
    default:
      // Votes about parameters that this program does not know are never counted here.
      return {};
  }
}
