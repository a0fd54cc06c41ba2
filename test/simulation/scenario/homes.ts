import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey } from "../../../src/base/crypto/compressed-public-key.ts";
import { parseGenesis } from "../../../src/base/params/genesis.ts";
import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import { genesisBlock } from "../../../src/chain/genesis-block.ts";
import { engineGenesisJson } from "../../../src/consensus/cometbft/home/config.ts";
import { createEngineGenesis, createEngineKeys, nodeIdOf } from "../../../src/consensus/cometbft/home/home.ts";
import { validatorPublicKey } from "../../../src/consensus/cometbft/signing/key-files.ts";
import { renderGenesis } from "../../../src/node/config/genesis/genesis.ts";
import { cometbftPath, genesisPath } from "../../../src/node/config/home.ts";
import { makeFolder } from "../../../src/store/storage/make-folder.ts";
import type { Machine } from "../kernel/machine.ts";
import { START_OF_TIME } from "../kernel/simulation.ts";
import { CLOCK, forkProbe, LEDGER, RELAY } from "../workload/contracts.ts";
import { CHAIN_ID, USER_BALANCE, USERS } from "../workload/user-keys.ts";
import type { Plan } from "./plan.ts";

export const HOME = "/home/node";
export const P2P_PORT = 26_656;
export const RPC_PORT = 26_657;

/** Unix time of block 0: a minute before the simulation begins. */
const GENESIS_TIME = START_OF_TIME / 1000 - 60;

/** Unix time at which the plan's fork begins; 0: with block 0. */
export function forkTimeOf({ forkAfterMs }: Pick<Plan, "forkAfterMs">): number {
  return forkAfterMs === 0 ? 0 : GENESIS_TIME + Math.floor(forkAfterMs / 1000);
}

/** Text of the genesis file. @param forkTime of the plan's fork, Unix seconds; undefined: never */
export function genesisText({ fork, speculationThreads }: Plan, forkTime: number | undefined): string {
  const alloc = new Map(USERS.map(({ address }) => [address, USER_BALANCE]));
  const text = renderGenesis({ chainId: CHAIN_ID, timestamp: GENESIS_TIME, alloc, contractsUpTo: fork });
  const genesis = JSON.parse(text) as { config: Record<string, unknown>; alloc: Record<string, unknown> };
  genesis.config[`${fork}Time`] = forkTime;
  const contracts = [LEDGER, RELAY, forkProbe(fork), ...(speculationThreads > 0 ? [CLOCK] : [])];
  for (const { address, code } of contracts) genesis.alloc[address] = { balance: "0x0", nonce: "0x1", code };
  return JSON.stringify(genesis);
}

/** What others know of a node of a network. */
export type Identity = {
  /** `id@host:port` */
  readonly peer: string;
  /** Of its validator key, in hex. */
  readonly publicKey: string;
  readonly address: string;
};

/** Writes the homes of all nodes and returns their identities; none under the solo engine. */
export function makeHomes(plan: Plan, machines: readonly Machine[]): readonly Identity[] {
  const text = genesisText(plan, forkTimeOf(plan));
  const genesis = parseGenesis(text);
  const { block } = genesisBlock(genesis);
  const keys: Uint8Array[] = [];
  const identities: Identity[] = [];
  for (const machine of machines) {
    onMachine(machine, () => {
      makeFolder(join(HOME, "config"));
      writeFileSync(genesisPath(HOME), text);
      if (plan.engine === "solo") return;
      createEngineKeys(cometbftPath(HOME));
      const key = validatorPublicKey(cometbftPath(HOME));
      keys.push(key);
      identities.push({
        peer: `${nodeIdOf(cometbftPath(HOME))}@${machine.address}:${P2P_PORT}`,
        publicKey: bytesToHex(key),
        address: addressOfCompressedKey(key)!,
      });
    });
  }
  if (plan.engine === "solo") return [];
  const engineGenesis = engineGenesisJson({
    chainId: genesis.config.chainId,
    genesisTime: block.header.timestamp,
    initialHeight: 1,
    validators: plan.nodes.flatMap(({ isValidator }, index) =>
      isValidator ? [{ publicKey: keys[index]!, name: machines[index]!.name }] : [],
    ),
    power: plan.power,
    genesisHash: block.hash,
  });
  for (const machine of machines) onMachine(machine, () => createEngineGenesis(cometbftPath(HOME), engineGenesis));
  return identities;
}

/** Runs `work` as a process of `machine`, which ends with it; everything it wrote is synced. */
export function onMachine(machine: Machine, work: () => void): void {
  const { simulation } = machine;
  const process = machine.start("operator", work);
  simulation.runUntil(simulation.now);
  process.exit(0);
  for (const [, file] of machine.disk.filesBelow("/home")) file.content.sync();
  machine.disk.syncNames();
}
