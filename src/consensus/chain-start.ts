import { NodeError } from "../base/errors.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import { forksBegun } from "../base/params/fork-id.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { ChainStart, Validator } from "./application.ts";

/** consensus_params.version.app: raised with every incompatible format of proposals. */
export const APP_VERSION = 1;

/** Chain id of the consensus network. */
export function engineChainId(chainId: bigint): string {
  return `evmint-${chainId}`;
}

/** `app_state` of the engine's genesis. */
export type AppState = {
  /** Hash of block 0 of its EVM chain. */
  readonly evmGenesis: Hash;
  /** Voting power of newly voted-in validators, in decimal digits. Absent in old genesis files: 1. */
  readonly validatorPower: string;
  /** `genesisRules` of the EVM genesis; absent if it has none. */
  readonly rules?: string;
  /** `genesisForks` of the EVM genesis. Absent in old genesis files, from before forks were compared. */
  readonly forks?: string;
};

export function appStateOf(chain: {
  readonly genesisHash: Hash;
  readonly validatorPower: number;
  readonly rules?: string | undefined;
  readonly forks?: string | undefined;
}): AppState {
  const { genesisHash, validatorPower, rules, forks } = chain;
  return {
    evmGenesis: genesisHash,
    validatorPower: String(validatorPower),
    ...(rules !== undefined && { rules }),
    ...(forks !== undefined && { forks }),
  };
}

/**
 * The forks of a genesis file that apply to the engine's first block, as text. The hash of block 0 does not cover them, and blocks name only
 * forks that begin later.
 * @param head the preceding block
 */
export function genesisForks(
  config: ChainConfig,
  head: { readonly number: number; readonly timestamp: number },
): string {
  return forksBegun(config, head.number, head.timestamp).join(" ");
}

/** The difference between two lists of forks, for operators; undefined if they are equal, or if the engine's genesis has none. */
export function forkDifference(theirs: unknown, own: string): string | undefined {
  if (theirs === undefined || theirs === own) return undefined;
  const there = String(theirs).split(" ");
  const here = own.split(" ");
  const missing = there.filter((fork) => !here.includes(fork));
  const excess = here.filter((fork) => !there.includes(fork));
  return [
    ...(missing.length > 0 ? [`the network's genesis has ${missing.join(", ")}, config/genesis.json does not`] : []),
    ...(excess.length > 0 ? [`config/genesis.json has ${excess.join(", ")}, the network's genesis does not`] : []),
  ].join("; ");
}

/**
 * The rules of a genesis file that the hash of block 0 does not cover and that all nodes must share, as text. In the engine's genesis, all nodes
 * compare them. Undefined if the file has none.
 */
export function genesisRules(config: ChainConfig): string | undefined {
  const { zeroBaseFee, minimumTip, jail, accountPermissions, codeSizeMax, noTxGasLimit } = config;
  const rules = [
    ...(zeroBaseFee ? ["zeroBaseFee"] : []),
    ...(minimumTip === undefined ? [] : [`minimumTip=${minimumTip}`]),
    ...(jail ? ["jail"] : []),
    ...(accountPermissions === undefined ? [] : [`accountPermissions=${accountPermissions}`]),
    ...(codeSizeMax === undefined ? [] : [`codeSizeLimit=${codeSizeMax}`]),
    ...(noTxGasLimit ? ["noTxGasLimit"] : []),
  ];
  return rules.length === 0 ? undefined : rules.join(" ");
}

/** The engine's genesis describes a different chain. */
export class GenesisDisagreementError extends NodeError {
  readonly code = "CONSENSUS_GENESIS_DISAGREEMENT";
}

/** Our chain's state, with which an engine's genesis must agree. */
type OwnStart = {
  /** From the genesis file. */
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly rules: string | undefined;
  /** Number and time of the head. */
  readonly head: { readonly number: number; readonly timestamp: number };
};

/** @throws GenesisDisagreementError for the first differing field */
export function assertSameChain(start: ChainStart, own: OwnStart): void {
  agree("chain id", start.chainId, engineChainId(own.config.chainId));
  const { evmGenesis, rules, forks } = appStateIn(start.appState);
  agree("hash of the EVM genesis block", evmGenesis, own.genesisHash);
  agree("list of rules of the EVM genesis", rules, own.rules);
  const difference = forkDifference(forks, genesisForks(own.config, own.head));
  if (difference !== undefined) {
    throw new GenesisDisagreementError(`${difference}: copy config/genesis.json from a node of the network`, { forks });
  }
  agree("initial height", start.initialHeight, own.head.number + 1);
  if (start.time.seconds < own.head.timestamp) {
    throw new GenesisDisagreementError(`genesis time ${start.time.seconds} is before the head's ${own.head.timestamp}`);
  }
  assertValidators(start.validators);
}

function agree(name: string, theirs: unknown, ours: unknown): void {
  if (theirs === ours) return;
  throw new GenesisDisagreementError(`${name} is ${theirs} in the engine's genesis, but ${ours} in this node's`, {
    name,
    theirs,
    ours,
  });
}

function appStateIn(appState: Uint8Array): { readonly [Key in keyof AppState]?: unknown } {
  try {
    const state: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(appState));
    return (state ?? {}) as object;
  } catch (cause) {
    throw new GenesisDisagreementError("app_state is not JSON", {}, { cause });
  }
}

function assertValidators(validators: readonly Validator[]): void {
  const addresses = new Set(validators.map(({ address }) => address));
  if (validators.length === 0 || addresses.size !== validators.length) {
    throw new GenesisDisagreementError("validators are missing or listed twice");
  }
  for (const { address, publicKey, power } of validators) {
    if (!Number.isSafeInteger(power) || power <= 0 || publicKey.length !== 33) {
      throw new GenesisDisagreementError(`validator ${address} has no usable key or power`, {
        address,
        power,
      });
    }
  }
}
