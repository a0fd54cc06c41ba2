import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { cometbftPath, genesisPath } from "../../config/home.ts";
import { formatHostPort } from "../../config/value-types.ts";
import {
  engineRpcSocket,
  nodeIdOf,
  validatorPrivateKey,
  validatorPublicKey,
} from "../../consensus/cometbft/home/home.ts";
import { EngineRpcError } from "../../consensus/cometbft/rpc/answers.ts";
import { createEngineRpc } from "../../consensus/cometbft/rpc/client.ts";
import { addressOfCompressedKey } from "../../crypto/compressed-public-key.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { escapeControlsInLines } from "../../telemetry/escape-controls.ts";
import type { CliContext } from "../context.ts";
import { CommandError } from "../errors.ts";
import { renderNetworkFile } from "./init.ts";

/** Prints address, public key and node id of the home's validator key. */
export function showValidator({ home }: Config, context: CliContext): void {
  const directory = engineHome(home);
  const publicKey = validatorPublicKey(directory);
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
export function printValidatorKey({ home }: Config, { stdout }: CliContext): void {
  stdout.write(`${bytesToHex(validatorPrivateKey(engineHome(home)))}\n`);
}

/** Prints what CometBFT of the running node says about itself. @throws CommandError when it does not run */
export async function engineStatus({ home }: Config, context: CliContext): Promise<void> {
  const socket = engineRpcSocket(cometbftPath(home));
  const rpc = createEngineRpc(socket);
  try {
    const [status, peers, round] = await Promise.all([rpc.status(), rpc.peers(), rpc.round()]);
    printJson(
      {
        ...status,
        ...round,
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

/** Prints the file that `evmintd init --join` reads, with this node as a peer. */
export function invite({ home, cometbft, consensus }: Config, { stdout }: CliContext): void {
  const directory = engineHome(home);
  const own = cometbft.externalAddress || formatHostPort(cometbft.p2pAddress);
  stdout.write(
    renderNetworkFile({
      genesis: readFileSync(genesisPath(home), "utf8"),
      engineGenesis: readFileSync(join(directory, "config", "genesis.json"), "utf8"),
      blockTimeMs: intervalOf(consensus),
      peers: [`${nodeIdOf(directory)}@${own}`, ...cometbft.persistentPeers],
    }),
  );
}

/** @throws CommandError for blocks at no pace */
function intervalOf({ blockTime }: Config["consensus"]): number {
  if (typeof blockTime === "object") return blockTime.intervalMs;
  throw new CommandError("consensus.block-time is no pace such as 1s: a network needs one");
}

/** CometBFT's home. @throws CommandError where there is none */
function engineHome(home: string): string {
  const directory = cometbftPath(home);
  if (existsSync(join(directory, "config", "genesis.json"))) return directory;
  throw new CommandError(`${home} has no validator: its chain does not run under CometBFT (consensus.engine)`);
}

/** Peers choose their monikers. */
function printJson(value: unknown, { stdout }: CliContext): void {
  stdout.write(`${escapeControlsInLines(JSON.stringify(value, null, 2))}\n`);
}
