import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Chain } from "../../chain/chain.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { setAsideBlocks } from "../../chain-files/transfer-chain-file.ts";
import type { Config } from "../../config/config.ts";
import { InvalidConfigError } from "../../config/errors.ts";
import {
  abciSocketPath,
  cometbftPath,
  dataPath,
  engineAdditionsPath,
  genesisPath,
  setAsidePath,
} from "../../config/home.ts";
import { clientVersion } from "../../config/package.ts";
import { remoteSignerOf } from "../../config/remote-signer.ts";
import { formatHostPort } from "../../config/value-types.ts";
import type { Application } from "../../consensus/application.ts";
import { engineChainId, genesisRules } from "../../consensus/chain-start.ts";
import { createCometBftEngine } from "../../consensus/cometbft/cometbft-engine.ts";
import { type EngineAdditions, parseEngineAdditions } from "../../consensus/cometbft/home/additions.ts";
import { engineConfigToml, engineGenesisJson } from "../../consensus/cometbft/home/config.ts";
import {
  assertEngineGenesis,
  createEngineKeys,
  engineRpcSocket,
  isEngineStoreEmpty,
  prepareEngineHome,
  readStartingSet,
  readValidatorPower,
  removeLeftSocket,
  writeEngineConfig,
} from "../../consensus/cometbft/home/home.ts";
import { Pace } from "../../consensus/cometbft/pace.ts";
import { PeerLists, type PeerSettings, peerIdOf } from "../../consensus/cometbft/peer-lists.ts";
import { AllowedNodesFile } from "../../consensus/cometbft/permissions/allowed-nodes-file.ts";
import { NodePermissions } from "../../consensus/cometbft/permissions/node-permissions.ts";
import { ChainNodesContract, type NodesContract } from "../../consensus/cometbft/permissions/nodes-contract.ts";
import { findProgram, startEngineProcess } from "../../consensus/cometbft/process/engine-process.ts";
import { readStoreHeight, StoreRollback } from "../../consensus/cometbft/process/store-rollback.ts";
import { type EngineRpcAddress, parseRpcAddress } from "../../consensus/cometbft/rpc/client.ts";
import { validatorPublicKey } from "../../consensus/cometbft/signing/key-files.ts";
import { isRestored, RESTORED_GUARD_BLOCKS } from "../../consensus/cometbft/signing/restored.ts";
import { SigningRole } from "../../consensus/cometbft/signing/signing-role.ts";
import { StateSyncServers, type SyncedEngine, syncState } from "../../consensus/cometbft/state-sync.ts";
import type { Engine } from "../../consensus/engine.ts";
import { RecordedBlocks } from "../../consensus/recorded-blocks.ts";
import { SnapshotRestore } from "../../consensus/state-sync/restore.ts";
import type { StartingSet } from "../../consensus/voting/starting-set.ts";
import { addressOfCompressedKey } from "../../crypto/compressed-public-key.ts";
import type { CallModules } from "../../execution/call/call.ts";
import { parseGenesis } from "../../params/genesis.ts";
import { type Address, ZERO_ADDRESS } from "../../primitives/address.ts";
import { ifPresent } from "../../storage/if-present.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

export type NetworkEngineModules = {
  readonly application: Application;
  readonly chain: Chain;
  /** `genesisRules` of the genesis file. */
  readonly rules: string | undefined;
  readonly execution: CallModules;
  readonly failures: Failures;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
  /** The validators after the newest block. */
  readonly signers: () => readonly Address[];
  /** The validator has another key. */
  readonly onNewKey: (old: Address, address: Address) => void;
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
  createKeys(config);
  const { nodeId, initialHeight } = prepareEngineHome(directory, () =>
    engineGenesisJson({
      chainId: chain.config.chainId,
      genesisTime: header.timestamp,
      initialHeight: header.number + 1,
      validators: [{ publicKey: ownPublicKey(config), name: cometbft.moniker }],
      genesisHash: chain.genesisHash,
      rules: modules.rules,
    }),
  );
  // CometBFT would hand over its genesis, be refused, and be started again for ever.
  if (isEngineStoreEmpty(directory)) {
    assertEngineGenesis(directory, {
      chainId: chain.config.chainId,
      genesisHash: chain.genesisHash,
      rules: modules.rules,
    });
  }
  const application = new RecordedBlocks(modules.application, {
    chain,
    startingSet: () => startingSet(config),
    validatorPower: () => validatorPower(config),
    rules: modules.rules,
    log,
  });
  const pace = new Pace(parts.blockTimeMs, chain.config);
  return createCometBftEngine(
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
          now: () => performance.now(),
          log,
        },
      ),
      allowedNodes: openAllowedNodes(config, log),
      nodesContract: openNodesContract(config, { ...modules, log }),
      storeRollback: new StoreRollback(
        { initialHeight, blocksMax: cometbft.rollbackBlocksMax },
        {
          height: () => chain.head().block.header.number,
          storeHeight: () => readStoreHeight(parts),
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

/** What CometBFT is started with. @throws CometBftMissingError, InvalidConfigError, SocketPathTooLongError */
function enginePartsOf(config: Config) {
  const { consensus, cometbft, home } = config;
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
    p2p: {
      isEnabled: cometbft.pex ?? !cometbft.localNet,
      seeds: cometbft.seeds,
      privateIds: cometbft.privatePeers,
      inboundMax: cometbft.inboundPeersMax,
      outboundMax: cometbft.outboundPeersMax,
    },
    metricsAddress: cometbft.metricsAddress === null ? "" : formatHostPort(cometbft.metricsAddress),
    additions: readAdditions(engineAdditionsPath(home)),
    peers: peerSettingsOf(config),
  };
}

/**
 * Restores the state of a home without `data/` from a snapshot of the network, where `cometbft.state-sync-servers` asks for it.
 * @returns CometBFT, which waits for the engine; undefined where nothing was to be restored
 * @throws StateSyncError, EngineHomeError, InvalidConfigError
 */
export async function syncFromPeers(config: Config, metrics: Metrics, log: Logger): Promise<SyncedEngine | undefined> {
  const { cometbft, home } = config;
  const data = dataPath(home);
  const directory = cometbftPath(home);
  if (cometbft.stateSyncServers.length === 0 || existsSync(data)) return undefined;
  if (!isEngineStoreEmpty(directory)) {
    log.warn("no state sync: CometBFT has blocks of its own, from which the chain is built again");
    return undefined;
  }
  const { genesis, hash } = readGenesis(home);
  createKeys(config);
  assertEngineGenesis(directory, {
    chainId: genesis.config.chainId,
    genesisHash: hash,
    rules: genesisRules(genesis.config),
  });
  const parts = enginePartsOf(config);
  const stateSync = {
    rpcServers: cometbft.stateSyncServers,
    trustHeight: cometbft.trustHeight,
    trustHash: cometbft.trustHash,
  };
  const servers = cometbft.stateSyncServers.map(stateSyncServer);
  // A validator signs once it is at the head: the engine of the restored chain starts CometBFT again for that.
  writeEngineConfig(directory, engineConfigToml({ ...parts, key: { kind: "none" }, stateSync }));
  const source = new StateSyncServers(
    {
      servers,
      chainId: engineChainId(genesis.config.chainId),
      startingSet: startingSet(config),
      jail: genesis.config.jail === true,
    },
    log,
  );
  return syncState(
    { abciSocket: parts.abciSocket, version: clientVersion(), peers: permissionsWithoutChain(config, metrics, log) },
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

/** @throws AllowedNodesFileError */
function openAllowedNodes({ home, cometbft }: Config, log: Logger): AllowedNodesFile | undefined {
  if (cometbft.allowedNodesFile === "") return undefined;
  return new AllowedNodesFile(resolve(home, cometbft.allowedNodesFile), log);
}

function openNodesContract(
  { cometbft }: Config,
  modules: ConstructorParameters<typeof ChainNodesContract>[1],
): NodesContract | undefined {
  return cometbft.allowedNodesContract === null
    ? undefined
    : new ChainNodesContract(cometbft.allowedNodesContract, modules);
}

/** Of a node that has no state yet, in which a contract could be asked. @throws AllowedNodesFileError */
function permissionsWithoutChain(config: Config, metrics: Metrics, log: Logger): NodePermissions {
  const { cometbft } = config;
  return new NodePermissions({
    lists: new PeerLists(peerSettingsOf(config)),
    seeds: cometbft.seeds.map(peerIdOf),
    file: openAllowedNodes(config, log),
    contract: cometbft.allowedNodesContract === null ? undefined : { ask: () => "unknown" },
    isLate: () => true,
    restart: () => {},
    metrics,
    log,
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
  const text = ifPresent(() => readFileSync(file, "utf8"));
  return text === undefined ? new Map() : parseEngineAdditions(text, file);
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

/** Voting power of validators that are voted in. @throws EngineHomeError */
export function validatorPower({ home }: Config): number {
  return readValidatorPower(cometbftPath(home));
}

/** Receives the tips of blocks this node proposes: as configured, else a validator's own address. */
export function defaultFeeRecipient(config: Config): Address {
  const { feeRecipient } = config.consensus;
  if (feeRecipient !== ZERO_ADDRESS) return feeRecipient;
  createKeys(config);
  return addressOfCompressedKey(ownPublicKey(config)) ?? ZERO_ADDRESS;
}

function createKeys(config: Config): void {
  createEngineKeys(cometbftPath(config.home), { isRemote: remoteSignerOf(config) !== undefined });
}

/** 33 bytes, compressed. */
function ownPublicKey(config: Config): Uint8Array {
  return remoteSignerOf(config)?.publicKey ?? validatorPublicKey(cometbftPath(config.home));
}
