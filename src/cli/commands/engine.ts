import { existsSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey } from "../../base/crypto/compressed-public-key.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { escapeControlsInLines } from "../../base/telemetry/escape-controls.ts";
import { engineRpcSocket, nodeIdOf } from "../../consensus/cometbft/home/home.ts";
import { EngineRpcError } from "../../consensus/cometbft/rpc/answers.ts";
import { createEngineRpc } from "../../consensus/cometbft/rpc/client.ts";
import { validatorPrivateKey, validatorPublicKey } from "../../consensus/cometbft/signing/key-files.ts";
import { peerIdOf } from "../../consensus/peer-lists.ts";
import type { Config } from "../../node/config/config.ts";
import { readGenesisText } from "../../node/config/genesis/genesis-file.ts";
import { cometbftPath, genesisPath } from "../../node/config/home.ts";
import { remoteSignerOf } from "../../node/config/remote-signer.ts";
import type { CliContext } from "../context.ts";
import { CommandError } from "../errors.ts";
import { renderNetworkFile } from "./network-file.ts";
import { ownAddress, reachOf } from "./own-address.ts";

/** Prints address, public key and node id of the validator, whose key is in the home or in a remote signer. */
export function showValidator(config: Config, context: CliContext): void {
  const directory = engineHome(config.home);
  const publicKey = publicKeyOf(config, directory);
  printJson(
    {
      address: addressOfCompressedKey(publicKey),
      publicKey: bytesToHex(publicKey),
      nodeId: nodeIdOf(directory),
    },
    context,
  );
}

/** Prints the private key that the node signs blocks with. */
export function printValidatorKey(config: Config, { stdout }: CliContext): void {
  const { home } = config;
  if (remoteSignerOf(config) !== undefined) {
    throw new CommandError("the remote signer holds the validator's key (cometbft.priv-validator-laddr)");
  }
  stdout.write(`${bytesToHex(validatorPrivateKey(engineHome(home)))}\n`);
}

/** Prints what CometBFT of the running node says about itself. @throws CommandError when it does not run */
export async function engineStatus(config: Config, context: CliContext): Promise<void> {
  const { home } = config;
  const validator = addressOfCompressedKey(publicKeyOf(config, engineHome(home)))!;
  const socket = engineRpcSocket(cometbftPath(home));
  const rpc = createEngineRpc(socket, context.timers);
  try {
    const [status, peers, round] = await Promise.all([rpc.status(), rpc.peers(), rpc.round()]);
    printJson(
      {
        ...status,
        // CometBFT has another key until that of the validator may sign.
        validator,
        hasValidatorKey: `0x${status.validatorAddress.toLowerCase()}` === validator,
        step: round.step,
        votedPower: round.votedPower,
        totalPower: round.totalPower,
        peers: peers.map(({ id, moniker, remoteIp, isOutbound }) => {
          return { id, moniker, remoteIp, isOutbound };
        }),
      },
      context,
    );
  } catch (error) {
    if (!(error instanceof EngineRpcError)) throw error;
    throw new CommandError(`no CometBFT answers at ${socket}: is the node running?`);
  }
}

/**
 * Prints the file that `evmintd init --join` reads, with this node as a peer. Nodes that are to be hidden are not in it.
 * @param flags.address under which others reach this node, `HOST` or `HOST:PORT`
 * @throws UsageError, CommandError where no node is left that the new one could reach
 */
export function invite(config: Config, flags: { readonly address?: string }, { stdout, stderr }: CliContext): void {
  const { home, cometbft, consensus } = config;
  const directory = engineHome(home);
  const warn = (text: string) => stderr.write(`warning: ${text}\n`);
  const peers = cometbft.persistentPeers.filter((peer) => isForOthers(peer, cometbft, flags.address));
  const omitted = cometbft.persistentPeers.length - peers.length;
  if (omitted > 0) warn(`${omitted} of cometbft.persistent-peers omitted: private, or unreachable from other machines`);
  // An invitation must not reveal the address of a validator behind sentries.
  if (cometbft.pex === false && flags.address === undefined) {
    warn("this node is omitted because cometbft.pex = false; --address HOST adds it");
    if (peers.length === 0) throw new CommandError("the file would name no node to connect to; give --address HOST");
  } else peers.unshift(`${nodeIdOf(directory)}@${ownAddress(flags.address, config)}`);
  const local = peers.filter((peer) => reachOf(hostOf(peer)) === "machine");
  if (local.length > 0)
    warn(`${local.length} of ${peers.length} peers are reachable only from this machine; use --address HOST`);
  stdout.write(
    renderNetworkFile({
      genesis: readGenesisText(genesisPath(home)),
      engineGenesis: readGenesisText(join(directory, "config", "genesis.json")),
      blockTimeMs: intervalOf(consensus),
      localNet: cometbft.localNet,
      allowedNodesContract: cometbft.allowedNodesContract,
      peers,
    }),
  );
}

/** Whether a persistent peer of this node is one for a new node, which is on another machine where this one has an address for it. */
function isForOthers(
  peer: string,
  { privatePeers, localNet }: Config["cometbft"],
  address: string | undefined,
): boolean {
  if (privatePeers.includes(peerIdOf(peer))) return false;
  const reach = reachOf(hostOf(peer));
  if (reach === "machine") return localNet && address === undefined;
  return reach === "everywhere" || localNet;
}

/** Of `id@host:port`. */
function hostOf(peer: string): string {
  return peer.slice(peer.indexOf("@") + 1, peer.lastIndexOf(":"));
}

/** @throws CommandError for blocks at no pace */
function intervalOf({ blockTime }: Config["consensus"]): number {
  if (typeof blockTime === "object") return blockTime.intervalMs;
  throw new CommandError("a network needs a fixed consensus.block-time such as 1s");
}

/** 33 bytes, compressed. @throws InvalidConfigError, EngineHomeError */
function publicKeyOf(config: Config, directory: string): Uint8Array {
  return remoteSignerOf(config)?.publicKey ?? validatorPublicKey(directory);
}

/** CometBFT's home. @throws CommandError if it is missing */
export function engineHome(home: string): string {
  const directory = cometbftPath(home);
  if (existsSync(join(directory, "config", "genesis.json"))) return directory;
  throw new CommandError(`${home} has no validator key: its chain does not run under CometBFT (consensus.engine)`);
}

/** Peers choose their monikers. */
function printJson(value: unknown, { stdout }: CliContext): void {
  stdout.write(`${escapeControlsInLines(JSON.stringify(value, null, 2))}\n`);
}
