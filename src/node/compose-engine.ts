import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Chain } from "../chain/chain.ts";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/dangers.ts";
import { InvalidConfigError } from "../config/errors.ts";
import { abciSocketPath, cometbftPath } from "../config/home.ts";
import { formatHostPort } from "../config/value-types.ts";
import { clientVersion } from "../config/version.ts";
import type { Application } from "../consensus/application.ts";
import type { StartingSet } from "../consensus/clique/starting-set.ts";
import type { Voting } from "../consensus/clique/voting.ts";
import { createCometBftEngine } from "../consensus/cometbft/cometbft-engine.ts";
import { engineConfigToml } from "../consensus/cometbft/engine-config.ts";
import { engineGenesisJson } from "../consensus/cometbft/engine-genesis.ts";
import {
  createEngineKeys,
  prepareEngineHome,
  readStartingSet,
  validatorPublicKey,
} from "../consensus/cometbft/engine-home.ts";
import type { Engine } from "../consensus/engine.ts";
import { addressOfCompressedKey } from "../crypto/compressed-public-key.ts";
import { NodeError } from "../errors.ts";
import { type Address, ZERO_ADDRESS } from "../primitives/address.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";

/** The version of CometBFT this node is built and tested for; its socket lacks calls before it. */
const COMETBFT_VERSION = "v0.40.0";

/** `cometbft.binary` names no program. */
export class CometBftMissingError extends NodeError {
  readonly code = "COMETBFT_MISSING";
  constructor(binary: string) {
    super(
      `consensus.engine = cometbft needs the program "${binary}" (cometbft.binary): ` +
        `go install github.com/cometbft/cometbft/cmd/cometbft@${COMETBFT_VERSION}`,
      { binary },
    );
  }
}

export type NetworkEngineModules = {
  readonly application: Application;
  readonly chain: Chain;
  readonly voting: Voting;
  readonly failures: Failures;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
};

/**
 * CometBFT for the chain of a home. Writes its configuration, and keys and a genesis with this node as the only validator where there
 * are none.
 * @throws CometBftMissingError, InvalidConfigError, EngineHomeError
 */
export function createNetworkEngine(config: Config, modules: NetworkEngineModules): Engine {
  const { consensus, cometbft, home } = config;
  const { chain, voting } = modules;
  const binary = findProgram(cometbft.binary);
  if (typeof consensus.blockTime !== "object") {
    throw new InvalidConfigError(
      `consensus.block-time: ${consensus.blockTime} blocks need the solo engine; a network makes blocks at a pace such as 1s`,
      { key: "consensus.block-time" },
    );
  }
  if (!isLoopback(cometbft.rpcAddress.host)) {
    throw new InvalidConfigError(
      "cometbft.rpc-address: has to be on loopback, since it submits and dials for every caller",
      { key: "cometbft.rpc-address" },
    );
  }
  const blockTimeMs = consensus.blockTime.intervalMs;
  const directory = cometbftPath(home);
  const abciSocket = abciSocketPath(home);
  const rpcAddress = `tcp://${formatHostPort(cometbft.rpcAddress)}`;
  const p2pAddress = formatHostPort(cometbft.p2pAddress);
  const { header } = chain.head().block;
  const engineHome = prepareEngineHome(directory, {
    config: engineConfigToml({
      abciSocket,
      moniker: cometbft.moniker,
      rpcAddress,
      p2pAddress,
      externalAddress: cometbft.externalAddress,
      persistentPeers: cometbft.persistentPeers,
      isLocalNet: cometbft.localNet,
      blockTimeMs,
      doubleSignCheckHeight: cometbft.doubleSignCheckHeight,
    }),
    genesis: (publicKey) =>
      engineGenesisJson({
        chainId: chain.config.chainId,
        genesisTime: header.timestamp,
        initialHeight: header.number + 1,
        validators: [{ publicKey, power: 1, name: cometbft.moniker }],
        genesisHash: chain.genesisHash,
      }),
  });
  return createCometBftEngine(
    {
      nodeId: engineHome.nodeId,
      initialHeight: engineHome.initialHeight,
      ...{ binary, directory, abciSocket, rpcAddress, p2pAddress, blockTimeMs },
      version: clientVersion(),
    },
    {
      ...modules,
      validatorCount: () => voting.snapshotAt(chain.head().block.header.number).signers.length,
      rollbackTo: (height) => chain.rollbackTo(height),
      onCommitted: (listener) => chain.subscribe(listener),
      log: modules.log.child("cometbft"),
    },
  );
}

/** The validators of CometBFT's genesis in the home. @throws EngineHomeError */
export function startingSet({ home }: Config): StartingSet {
  return readStartingSet(cometbftPath(home));
}

/** Receives the tips of blocks this node proposes: as configured, else a validator's own address. */
export function defaultFeeRecipient({ consensus, home }: Config): Address {
  if (consensus.feeRecipient !== ZERO_ADDRESS) return consensus.feeRecipient;
  const directory = cometbftPath(home);
  createEngineKeys(directory);
  return addressOfCompressedKey(validatorPublicKey(directory)) ?? ZERO_ADDRESS;
}

/** @throws CometBftMissingError */
function findProgram(name: string): string {
  const candidates = name.includes("/")
    ? [resolve(name)]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name));
  const found = candidates.find(isProgram);
  if (found === undefined) throw new CometBftMissingError(name);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
