import type { AbciContract } from "../cometbft/contract/abci-contract.ts";
import type { HostileKind } from "../cometbft/hostility.ts";
import type { PeerMessage } from "../cometbft/messages.ts";
import { runCometBft } from "../cometbft/run.ts";
import type { SigningKeys } from "../cometbft/signing-keys.ts";
import type { SimulatedProcess } from "../kernel/process.ts";
import { RPC_PORT } from "./homes.ts";

type EngineOptions = {
  /** Of all validators of the simulation. */
  readonly keys: SigningKeys;
  readonly hostile: () => ReadonlySet<HostileKind>;
  /** Transactions that only its peers get from it. */
  readonly gossip: () => readonly Uint8Array[];
  /** Of all nodes of the simulation. */
  readonly contract: AbciContract;
};

/** Runs the model of CometBFT as the process `process`. Its RPC, a socket in the home, is at a port of the machine too, as behind a proxy. */
export function runEngine(
  process: SimulatedProcess,
  args: readonly string[],
  { keys, hostile, gossip, contract }: EngineOptions,
): void {
  const { machine, simulation } = process;
  runCometBft(args, {
    random: () => process.random.fraction(),
    stdout: (line) => process.onOutput?.("stdout", line),
    stderr(line) {
      simulation.log(process.name, line);
      process.onOutput?.("stderr", line);
    },
    exit: (code) => process.exit(code),
    onSignal(listener) {
      process.onSignal = () => listener("SIGTERM");
    },
    peers: (own, events) => simulation.network.peers<PeerMessage>(process, own, events),
    serveHttp(address, handler) {
      const path = /^unix:\/\/(.*)$/.exec(address)?.[1];
      const port = /:(\d+)$/.exec(address)?.[1];
      machine.httpServers.set(path ?? port!, { process, target: handler });
      machine.httpServers.set(String(RPC_PORT), { process, target: handler });
    },
    keys,
    hostile,
    gossip,
    observeAbci(connection, event) {
      // One that was paused while its node was killed can still be there: the application that it calls is gone.
      const newest = [...machine.processes].findLast(({ name }) => name === process.name);
      if (newest !== process) return;
      const words = contract.observe(machine.name, connection, event);
      if (words !== undefined) simulation.violate("abci", `${machine.name}: ${words}`);
    },
  });
}
