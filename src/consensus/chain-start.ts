import { NodeError } from "../errors.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { Hash } from "../primitives/hash.ts";
import type { ChainStart, Validator } from "./application.ts";

/** consensus_params.version.app: raised with every incompatible format of proposals. */
export const APP_VERSION = 1;

/** Chain id of the consensus network. */
export function engineChainId(chainId: bigint): string {
  return `evmint-${chainId}`;
}

/** `app_state` of the engine's genesis: the EVM chain it belongs to. */
export function appStateOf(genesisHash: Hash): { readonly evmGenesis: Hash } {
  return { evmGenesis: genesisHash };
}

/** The engine's genesis describes another chain than ours. */
class GenesisDisagreementError extends NodeError {
  readonly code = "CONSENSUS_GENESIS_DISAGREEMENT";
}

/** The state of our chain that an engine's genesis must agree with. */
type OwnStart = {
  readonly config: Pick<ChainConfig, "chainId">;
  readonly genesisHash: Hash;
  /** Number and time of the head. */
  readonly head: { readonly number: number; readonly timestamp: number };
};

/** @throws GenesisDisagreementError for the first field that disagrees */
export function assertSameChain(start: ChainStart, own: OwnStart): void {
  agree("chain id", start.chainId, engineChainId(own.config.chainId));
  agree("hash of the EVM genesis block", evmGenesisOf(start.appState), own.genesisHash);
  agree("initial height", start.initialHeight, own.head.number + 1);
  if (start.time.seconds < own.head.timestamp) {
    throw new GenesisDisagreementError(`genesis time ${start.time.seconds} is before the head's ${own.head.timestamp}`);
  }
  assertValidators(start.validators);
}

function agree(name: string, theirs: unknown, ours: unknown): void {
  if (theirs === ours) return;
  throw new GenesisDisagreementError(`${name} is ${theirs} in the engine's genesis, ${ours} here`, {
    name,
    theirs,
    ours,
  });
}

function evmGenesisOf(appState: Uint8Array): unknown {
  try {
    const state: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(appState));
    return (state as { evmGenesis?: unknown } | null)?.evmGenesis;
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
