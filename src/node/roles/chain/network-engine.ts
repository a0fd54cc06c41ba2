import { existsSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey } from "../../../base/crypto/compressed-public-key.ts";
import { type Genesis, parseGenesis } from "../../../base/params/genesis.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import type { Failures } from "../../../base/telemetry/failures.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Metrics } from "../../../base/telemetry/metrics.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { Chain } from "../../../chain/chain.ts";
import { genesisBlock } from "../../../chain/genesis-block.ts";
import type { Application } from "../../../consensus/application.ts";
import { engineChainId, genesisForks } from "../../../consensus/chain-start.ts";
import { CometBftEngine } from "../../../consensus/cometbft/cometbft-engine.ts";
import { type EngineAdditions, parseEngineAdditions } from "../../../consensus/cometbft/home/additions.ts";
import { engineConfigToml, engineGenesisJson } from "../../../consensus/cometbft/home/config.ts";
import {
  assertEngineGenesis,
  assertEngineRules,
  createEngineKeys,
  engineRpcSocket,
  hasEngineGenesis,
  isEngineStoreEmpty,
  namesForks,
  prepareEngineHome,
  readStartingSet,
  readValidatorPower,
  removeLeftSocket,
  writeEngineConfig,
} from "../../../consensus/cometbft/home/home.ts";
import { EngineHomeError } from "../../../consensus/cometbft/json-file.ts";
import { Pace } from "../../../consensus/cometbft/pace.ts";
import { NodePermissions } from "../../../consensus/cometbft/permissions/node-permissions.ts";
import { ChainNodesContract, type NodesContract } from "../../../consensus/cometbft/permissions/nodes-contract.ts";
import { findProgram, startEngineProcess } from "../../../consensus/cometbft/process/engine-process.ts";
import {
  forgetLastResult,
  readStoreHeight,
  readStoreRange,
  setAsideStore,
} from "../../../consensus/cometbft/process/engine-store.ts";
import { endLeftoverEngines } from "../../../consensus/cometbft/process/leftover.ts";
import { StoreRollback } from "../../../consensus/cometbft/process/store-rollback.ts";
import { type EngineRpcAddress, parseRpcAddress } from "../../../consensus/cometbft/rpc/client.ts";
import { validatorPublicKey } from "../../../consensus/cometbft/signing/key-files.ts";
import { isRestored, RESTORED_GUARD_BLOCKS } from "../../../consensus/cometbft/signing/restored.ts";
import { SigningRole } from "../../../consensus/cometbft/signing-role.ts";
import { StateSyncServers, type SyncedEngine, syncState } from "../../../consensus/cometbft/state-sync.ts";
import type { Engine } from "../../../consensus/engine.ts";
import { PeerLists, type PeerSettings, peerIdOf } from "../../../consensus/peer-lists.ts";
import { RecordedBlocks } from "../../../consensus/recorded-blocks.ts";
import { SnapshotRestore } from "../../../consensus/state-sync/restore.ts";
import type { StartingSet } from "../../../consensus/voting/starting-set.ts";
import type { CallModules } from "../../../evm/execution/call/call.ts";
import { ifPresent } from "../../../store/storage/if-present.ts";
import { readTextFile } from "../../../store/storage/read-file.ts";
import { setAsideBlocks } from "../../chain-files/transfer-chain-file.ts";
import type { Config } from "../../config/config.ts";
import { invalidSetting } from "../../config/errors.ts";
import { readGenesisText } from "../../config/genesis/genesis-file.ts";
import {
  abciSocketPath,
  CONFIG_FILE_BYTES_MAX,
  cometbftPath,
  dataPath,
  engineAdditionsPath,
  genesisPath,
  poolPath,
  setAsidePath,
} from "../../config/home.ts";
import { clientVersion } from "../../config/package.ts";
import { remoteSignerOf } from "../../config/remote-signer.ts";
import { formatHostPort } from "../../config/value-types.ts";
import type { RollbackEngine } from "../rollback.ts";
import { isSnapshotAlone, UnfinishedSync } from "./unfinished-sync.ts";

export type NetworkEngineModules = {
  readonly application: Application;
  readonly chain: Chain;
  /** `genesisRules` of the genesis file. */
  readonly rules: string | undefined;
  readonly execution: CallModules;
  readonly failures: Failures;
  readonly timers: Timers;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
  /** The validators after the newest block. */
  readonly signers: () => readonly Address[];
  /** Called when the validator has another key. */
  readonly onNewKey: (old: Address, address: Address) => void;
  /** CometBFT as state sync left it, if it ran. */
  readonly synced: SyncedEngine | undefined;
};

/**
 * CometBFT for the chain of a home. Writes its configuration, and missing keys and a missing genesis with this node as the only validator.
 * @throws CometBftMissingError, InvalidConfigError, EngineHomeError, EngineGenesisMismatchError
 */
export function createNetworkEngine(config: Config, modules: NetworkEngineModules): Engine {
  const { cometbft } = config;
  const { chain } = modules;
  const log = modules.log.child("cometbft");
  const parts = enginePartsOf(config);
  const { directory } = parts;
  const { header } = chain.head().block;
  createKeys(config);
  const { nodeId, initialHeight } = prepareEngineHome(directory, () =>
    engineGenesisJson({
      chainId: chain.config.chainId,
      genesisTime: header.timestamp,
      initialHeight: header.number + 1,
      validators: [{ publicKey: ownPublicKey(config), name: cometbft.moniker }],
      genesisHash: chain.genesisHash,
      rules: modules.rules,
      forks: genesisForks(chain.genesisConfig, header),
    }),
  );
  assertEngineGenesis(directory, { chainId: chain.config.chainId, genesisHash: chain.genesisHash });
  const application = new RecordedBlocks(modules.application, {
    chain,
    startingSet: () => startingSet(config),
    validatorPower: () => validatorPower(config),
    rules: modules.rules,
    log,
  });
  const pace = new Pace(parts.blockTimeMs, chain.config);
  return new CometBftEngine(
    {
      ...parts,
      nodeId,
      initialHeight,
      seeds: cometbft.seeds.map(peerIdOf),
      retainBlocks: config.chain.retainBlocks,
      version: clientVersion(),
      pace,
      evidenceAgeSeconds: () => chain.config.evidenceAgeSeconds,
    },
    {
      ...modules,
      application,
      isStoreLost: () => modules.synced === undefined && isEngineStoreEmpty(directory),
      configure(peers, key) {
        if (key.kind === "remote") removeLeftSocket(key.address);
        const { blockTimeMs } = pace;
        writeEngineConfig(directory, engineConfigToml({ ...parts, blockTimeMs, peers, key }));
      },
      signing: new SigningRole(
        {
          directory,
          guardBlocks: isRestored(directory)
            ? Math.max(RESTORED_GUARD_BLOCKS, cometbft.doubleSignCheckHeight)
            : cometbft.doubleSignCheckHeight,
          blockTimeMs: pace.blockTimeMs,
          remoteSigner: remoteSignerOf(config),
        },
        {
          signers: modules.signers,
          onNewKey: modules.onNewKey,
          height: () => chain.head().block.header.number,
          wallClock: Date.now,
          now: () => modules.timers.now(),
          log,
        },
      ),
      nodesContract: openNodesContract(config, { ...modules, log }),
      storeRollback: new StoreRollback(
        { initialHeight, blocksMax: cometbft.rollbackBlocksMax },
        {
          height: () => chain.head().block.header.number,
          oldest() {
            const { block, state } = chain.oldest();
            return Math.max(block, state);
          },
          storeHeight: () => readStoreHeight(parts, modules.timers),
          setAside: (first, last) => setAsideBlocks(setAsidePath(config.home), chain, { first, last }),
          rollbackTo: (height) => chain.rollbackTo(height),
          catchUpFrom: (height) => application.begin(height),
          log,
        },
      ),
      headTimestamp: () => chain.head().block.header.timestamp,
      onCommitted: (listener) => chain.subscribe(listener),
      log,
    },
  );
}

/** The parameters of CometBFT's start. @throws CometBftMissingError, InvalidConfigError, SocketPathTooLongError */
function enginePartsOf(config: Config) {
  const { consensus, cometbft, home } = config;
  if (typeof consensus.blockTime !== "object") {
    throw invalidSetting(
      "consensus.block-time",
      `${consensus.blockTime} blocks need the solo engine; a network needs an interval such as 1s`,
    );
  }
  if (consensus.blockTime.emptyMs !== undefined) {
    throw invalidSetting(
      "consensus.block-time",
      "CometBFT makes empty blocks at the same interval; give one duration such as 1s",
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
    p2p: {
      isEnabled: cometbft.pex ?? !cometbft.localNet,
      seeds: cometbft.seeds,
      privateIds: cometbft.privatePeers,
      inboundMax: cometbft.inboundPeersMax,
    },
    metricsAddress: cometbft.metricsAddress === null ? "" : formatHostPort(cometbft.metricsAddress),
    additions: readAdditions(engineAdditionsPath(home)),
    peers: peerSettingsOf(config),
  };
}

/**
 * Restores the state of a home without `data/` from a network snapshot, if `cometbft.state-sync-servers` is set. In any home without `data/` it
 * first checks that the genesis files describe one chain, so that no store is created for a wrong one.
 * @returns CometBFT, which waits for the engine; undefined if nothing was restored
 * @throws StateSyncError, EngineHomeError, EngineGenesisMismatchError, InvalidConfigError
 */
export async function syncFromPeers(
  config: Config,
  modules: { readonly metrics: Metrics; readonly log: Logger; readonly timers: Timers },
): Promise<SyncedEngine | undefined> {
  const { log, timers } = modules;
  const { cometbft, home } = config;
  const data = dataPath(home);
  const directory = cometbftPath(home);
  const unfinished = new UnfinishedSync(data, poolPath(home));
  unfinished.end(log);
  if (existsSync(data) && !isUnfinished(config, data)) return undefined;
  const genesis = genesisOfNetwork(config);
  if (cometbft.stateSyncServers.length === 0) return undefined;
  if (!isEngineStoreEmpty(directory)) {
    log.warn("skipping state sync: the chain is rebuilt from the blocks that CometBFT has");
    return undefined;
  }
  if (genesis === undefined) {
    throw new EngineHomeError("state sync needs the genesis files of the network (evmintd init --join)", { home });
  }
  if (existsSync(data)) {
    log.warn("the last state sync did not finish: fetching another snapshot");
    endLeftoverEngines(directory, log);
    setAsideStore(directory, setAsideFolder(home));
    unfinished.begin();
  }
  createKeys(config);
  const parts = enginePartsOf(config);
  const stateSync = {
    rpcServers: cometbft.stateSyncServers,
    trustHeight: cometbft.trustBlock?.height ?? 0,
    trustHash: cometbft.trustBlock?.hash ?? "",
  };
  const servers = cometbft.stateSyncServers.map(stateSyncServer);
  // A validator signs once it is at the head: the engine of the restored chain restarts CometBFT for that.
  writeEngineConfig(directory, engineConfigToml({ ...parts, key: { kind: "none" }, stateSync }));
  const source = new StateSyncServers(
    {
      servers,
      chainId: engineChainId(genesis.config.chainId),
      startingSet: startingSet(config),
      jail: genesis.config.jail === true,
    },
    { log, timers },
  );
  const synced = await syncState(
    { abciSocket: parts.abciSocket, version: clientVersion(), peers: permissionsWithoutChain(config, modules) },
    {
      restore: new SnapshotRestore({ directory: data, config: genesis.config }, { source, log }),
      start: (onFault) => startEngineProcess({ binary: parts.binary, directory, onFault }, { log, timers }),
      log,
      timers,
    },
  );
  unfinished.end(log);
  return synced;
}

/** Whether the chain is only a snapshot that CometBFT does not know, and another can be fetched. */
function isUnfinished({ cometbft, home }: Config, data: string): boolean {
  const isEmpty = cometbft.stateSyncServers.length > 0 && isEngineStoreEmpty(cometbftPath(home));
  return isEmpty && isSnapshotAlone(data);
}

function setAsideFolder(home: string): string {
  return join(setAsidePath(home), `cometbft-${new Date().toISOString().replaceAll(":", "-")}`);
}

/**
 * CometBFT of a home whose lock is held, for a rollback. Kills one that outlived its node.
 * @throws CometBftMissingError, EngineHomeError
 */
export function createRollbackEngine(
  { cometbft, home }: Config,
  log: Logger,
  timers: Timers,
): RollbackEngine | undefined {
  const directory = cometbftPath(home);
  // It was never started.
  if (isEngineStoreEmpty(directory)) return undefined;
  endLeftoverEngines(directory, log);
  const stopped = { binary: findProgram(cometbft.binary), directory };
  return {
    initialHeight: readStartingSet(directory).initialHeight,
    range: () => readStoreRange(stopped, timers),
    forgetLastResult: () => forgetLastResult(stopped),
    setAside() {
      const folder = setAsideFolder(home);
      setAsideStore(directory, folder);
      return folder;
    },
  };
}

function openNodesContract(
  { cometbft }: Config,
  modules: ConstructorParameters<typeof ChainNodesContract>[1],
): NodesContract | undefined {
  return cometbft.allowedNodesContract === null
    ? undefined
    : new ChainNodesContract(cometbft.allowedNodesContract, modules);
}

/** Peer permissions of a node that has no state yet in which to call the contract. */
function permissionsWithoutChain(
  config: Config,
  { metrics, log, timers }: { readonly metrics: Metrics; readonly log: Logger; readonly timers: Timers },
): NodePermissions {
  const { cometbft } = config;
  return new NodePermissions({
    lists: new PeerLists(peerSettingsOf(config)),
    seeds: cometbft.seeds.map(peerIdOf),
    contract: cometbft.allowedNodesContract === null ? undefined : { ask: () => "unknown" },
    isLate: () => true,
    restart: () => {},
    metrics,
    log,
    timers,
  });
}

function peerSettingsOf({ cometbft }: Config): PeerSettings {
  return {
    persistent: cometbft.persistentPeers,
    trusted: cometbft.trustedPeers,
    rejected: cometbft.rejectedPeers,
  };
}

/** @throws EngineAdditionsError */
function readAdditions(file: string): EngineAdditions {
  const text = ifPresent(() => readTextFile(file, { bytesMax: CONFIG_FILE_BYTES_MAX }));
  return text === undefined ? new Map() : parseEngineAdditions(text, file);
}

/** @throws InvalidConfigError */
function stateSyncServer(text: string): EngineRpcAddress {
  const address = parseRpcAddress(text);
  if (address !== undefined) return address;
  throw invalidSetting("cometbft.state-sync-servers", "each server is host:port or unix:///path");
}

/**
 * The genesis of a home without a chain, for the network of CometBFT's genesis; undefined unless both files exist.
 * @throws EngineGenesisMismatchError, EngineHomeError
 */
function genesisOfNetwork({ home, dev }: Config): Genesis | undefined {
  const directory = cometbftPath(home);
  const text = dev || !hasEngineGenesis(directory) ? undefined : ifPresent(() => readGenesisText(genesisPath(home)));
  if (text === undefined) return undefined;
  const genesis = parseGenesis(text);
  const { block } = genesisBlock(genesis);
  assertEngineGenesis(directory, { chainId: genesis.config.chainId, genesisHash: block.hash });
  assertEngineRules(directory, genesis.config);
  return genesis;
}

/** The validators in CometBFT's genesis. @throws EngineHomeError */
export function startingSet({ home }: Config): StartingSet {
  return readStartingSet(cometbftPath(home));
}

/** Voting power of newly voted-in validators. @throws EngineHomeError */
export function validatorPower({ home }: Config): number {
  return readValidatorPower(cometbftPath(home));
}

/** The recipient of the tips of this node's blocks: the configured one, else a validator's own address. */
export function defaultFeeRecipient(config: Config): Address {
  const { feeRecipient } = config.consensus;
  if (feeRecipient !== ZERO_ADDRESS) return feeRecipient;
  createKeys(config);
  return addressOfCompressedKey(ownPublicKey(config)) ?? ZERO_ADDRESS;
}

/** Whether every block of the network names its forks. @throws EngineHomeError */
export function blocksNameForks({ home }: Config): boolean {
  return namesForks(cometbftPath(home));
}

function createKeys(config: Config): void {
  createEngineKeys(cometbftPath(config.home), { isRemote: remoteSignerOf(config) !== undefined });
}

/** 33 bytes, compressed. */
function ownPublicKey(config: Config): Uint8Array {
  return remoteSignerOf(config)?.publicKey ?? validatorPublicKey(cometbftPath(config.home));
}
