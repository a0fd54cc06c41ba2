import type { Config } from "./config.ts";
import { InvalidConfigError } from "./errors.ts";
import { formatHostPort, type HostPort } from "./value-types.ts";

/** True when only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** One sentence for each setting in force that gives strangers power; empty for a safe node. */
export function dangersOf(config: Config): string[] {
  const { jsonRpc } = config;
  const found: string[] = [];
  for (const [name, address] of publicListeners(config)) {
    const keys = config.dev ? ", which has unlocked accounts" : "";
    const isClear = !config.dev && config.tls.cert === "" && name !== "metrics.address";
    const tokens = isClear ? ", and tokens travel unencrypted (no tls.cert)" : "";
    found.push(`${name} listens on ${formatHostPort(address)}: other machines can reach this node${keys}${tokens}`);
  }
  if (jsonRpc.corsOrigins.includes("*")) {
    found.push("every web page may call this node (origin *)");
  }
  if (jsonRpc.vhosts.includes("*")) {
    found.push("the node accepts every host name (vhosts *), which allows DNS rebinding");
  }
  if (jsonRpc.allowInsecureUnlock) {
    found.push("accounts can be unlocked while other machines can reach the node (allow-insecure-unlock)");
  }
  return found;
}

/**
 * A dev chain's accounts are unlocked from the start, so a single setting must not expose it to a network.
 * @throws InvalidConfigError
 */
export function assertDevIsPrivate(config: Config): void {
  const [open] = publicListeners(config);
  if (!config.dev || open === undefined || config.jsonRpc.allowInsecureUnlock) return;
  throw new InvalidConfigError(
    `${open[0]} would listen on ${formatHostPort(open[1])} with unlocked accounts; listen on 127.0.0.1, or add --json-rpc.allow-insecure-unlock`,
    { key: open[0] },
  );
}

function publicListeners({ jsonRpc, metrics }: Config): [string, HostPort][] {
  const listeners: [string, HostPort][] = [];
  if (jsonRpc.enable) {
    listeners.push(["json-rpc.address", jsonRpc.address]);
    listeners.push(["json-rpc.ws-address", jsonRpc.wsAddress]);
  }
  if (metrics.enable) listeners.push(["metrics.address", metrics.address]);
  return listeners.filter(([, { host }]) => !isLoopback(host));
}
