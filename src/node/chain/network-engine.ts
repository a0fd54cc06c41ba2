import { existsSync, readFileSync } from "node:fs";
import type { Chain } from "../../chain/chain.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { setAsideBlocks } from "../../chain-files/transfer-chain-file.ts";
import type { Config } from "../../config/config.ts";
import { InvalidConfigError } from "../../config/errors.ts";
import { abciSocketPath, cometbftPath, dataPath, genesisPath, setAsidePath } from "../../config/home.ts";
import { clientVersion } from "../../config/package.ts";
import { formatHostPort } from "../../config/value-types.ts";
import type { Application } from "../../consensus/application.ts";
import { engineChainId } from "../../consensus/chain-start.ts";
import { createCometBftEngine } from "../../consensus/cometbft/cometbft-engine.ts";
import { engineConfigToml, engineGenesisJson } from "../../consensus/cometbft/home/config.ts";
import {
  assertEngineGenesis,
  createEngineKeys,
  engineRpcSocket,
  isEngineStoreEmpty,
  prepareEngineHome,
  readStartingSet,
  validatorPublicKey,
  writeEngineConfig,
} from "../../consensus/cometbft/home/home.ts";
import { findProgram, startEngineProcess } from "../../consensus/cometbft/process/engine-process.ts";
import { readStoreHeight, StoreRollback } from "../../consensus/cometbft/process/store-rollback.ts";
import { type EngineRpcAddress, parseRpcAddress } from "../../consensus/cometbft/rpc/client.ts";
import { StateSyncServers, type SyncedEngine, syncState } from "../../consensus/cometbft/state-sync.ts";
import type { Engine } from "../../consensus/engine.ts";
import { SnapshotRestore } from "../../consensus/state-sync/restore.ts";
import type { StartingSet } from "../../consensus/voting/starting-set.ts";
import { addressOfCompressedKey } from "../../crypto/compressed-public-key.ts";
import { parseGenesis } from "../../params/genesis.ts";
import { type Address, ZERO_ADDRESS } from "../../primitives/address.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

export type NetworkEngineModules = {
  readonly application: Application;
  readonly chain: Chain;
  readonly failures: Failures;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
  /** CometBFT as state sync left it, if there was one. */
  readonly synced: SyncedEngine | undefined;
};

/**
 * CometBFT for the chain of a home. Writes its configuration, and keys and a genesis with this node as the only validator where there
 * are none.
 * @throws CometBftMissingError, InvalidConfigError, EngineHomeError
 */
export function createNetworkEngine(config: Config, modules: NetworkEngineModules): Engine {
  const { cometbft } = config;
  const { chain } = modules;
  const log = modules.log.child("cometbft");
  const parts = enginePartsOf(config);
  const { directory } = parts;
  const { header } = chain.head().block;
  const { nodeId, initialHeight } = prepareEngineHome(directory, (publicKey) =>
    engineGenesisJson({
      chainId: chain.config.chainId,
      genesisTime: header.timestamp,
      initialHeight: header.number + 1,
      validators: [{ publicKey, power: 1, name: cometbft.moniker }],
      genesisHash: chain.genesisHash,
    }),
  );
  return createCometBftEngine(
    {
      ...parts,
      nodeId,
      initialHeight,
      retainBlocks: config.chain.retainBlocks,
      version: clientVersion(),
    },
    {
      ...modules,
      configure: (peers) => writeEngineConfig(directory, engineConfigToml({ ...parts, peers })),
      storeRollback: new StoreRollback(
        { initialHeight, blocksMax: cometbft.rollbackBlocksMax },
        {
          height: () => chain.head().block.header.number,
          storeHeight: () => readStoreHeight(parts),
          setAside: (first, last) => setAsideBlocks(setAsidePath(config.home), chain, { first, last }),
          rollbackTo: (height) => chain.rollbackTo(height),
          log,
        },
      ),
      onCommitted: (listener) => chain.subscribe(listener),
      log,
    },
  );
}

/** What CometBFT is started with. @throws CometBftMissingError, InvalidConfigError, SocketPathTooLongError */
function enginePartsOf({ consensus, cometbft, home }: Config) {
  if (typeof consensus.blockTime !== "object") {
    throw new InvalidConfigError(
      `consensus.block-time: ${consensus.blockTime} blocks need the solo engine; a network makes blocks at a pace such as 1s`,
      { key: "consensus.block-time" },
    );
  }
  const directory = cometbftPath(home);
  return {
    binary: findProgram(cometbft.binary),
    directory,
    abciSocket: abciSocketPath(home),
    rpcSocket: engineRpcSocket(directory),
    p2pAddress: formatHostPort(cometbft.p2pAddress),
    blockTimeMs: consensus.blockTime.intervalMs,
    moniker: cometbft.moniker,
    externalAddress: cometbft.externalAddress,
    isLocalNet: cometbft.localNet,
    doubleSignCheckHeight: cometbft.doubleSignCheckHeight,
    peers: {
      persistent: cometbft.persistentPeers,
      trusted: cometbft.trustedPeers,
      rejected: cometbft.rejectedPeers,
    },
  };
}

/**
 * Restores the state of a home without `data/` from a snapshot of the network, where `cometbft.state-sync-servers` asks for it.
 * @returns CometBFT, which waits for the engine; undefined where nothing was to be restored
 * @throws StateSyncError, EngineHomeError, InvalidConfigError
 */
export async function syncFromPeers(config: Config, log: Logger): Promise<SyncedEngine | undefined> {
  const { cometbft, home } = config;
  const data = dataPath(home);
  const directory = cometbftPath(home);
  if (cometbft.stateSyncServers.length === 0 || existsSync(data)) return undefined;
  if (!isEngineStoreEmpty(directory)) {
    log.warn("no state sync: CometBFT has blocks of its own, from which the chain is built again");
    return undefined;
  }
  const { genesis, hash } = readGenesis(home);
  createEngineKeys(directory);
  assertEngineGenesis(directory, { chainId: genesis.config.chainId, genesisHash: hash });
  const parts = enginePartsOf(config);
  const stateSync = {
    rpcServers: cometbft.stateSyncServers,
    trustHeight: cometbft.trustHeight,
    trustHash: cometbft.trustHash,
  };
  const servers = cometbft.stateSyncServers.map(stateSyncServer);
  writeEngineConfig(directory, engineConfigToml({ ...parts, stateSync }));
  const source = new StateSyncServers(
    { servers, chainId: engineChainId(genesis.config.chainId), startingSet: startingSet(config) },
    log,
  );
  return syncState(
    { abciSocket: parts.abciSocket, version: clientVersion() },
    {
      restore: new SnapshotRestore(
        { directory: data, config: genesis.config, bytesMax: config.snapshot.restoreBytesMax },
        { source, log },
      ),
      start: (onFault) => startEngineProcess({ binary: parts.binary, directory, onFault }, log),
      log,
    },
  );
}

/** @throws InvalidConfigError */
function stateSyncServer(text: string): EngineRpcAddress {
  const address = parseRpcAddress(text);
  if (address !== undefined) return address;
  throw new InvalidConfigError("cometbft.state-sync-servers: each server is host:port or unix:///path", {
    key: "cometbft.state-sync-servers",
  });
}

function readGenesis(home: string) {
  const genesis = parseGenesis(readFileSync(genesisPath(home), "utf8"));
  const { block } = genesisBlock(genesis);
  return { genesis, hash: block.hash };
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
