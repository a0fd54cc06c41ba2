import { BlockList, isIP } from "node:net";
import type { Config } from "../../node/config/config.ts";
import { isLoopback } from "../../node/config/dangers.ts";
import { formatHostPort, type HostPort, hostPort } from "../../node/config/value-types.ts";
import { CommandError, UsageError } from "../errors.ts";

/** Addresses that only a machine, or a net without a way to the others, knows: RFC 1122, 1918, 3927, 4193, 4291, 6598. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  PRIVATE.addSubnet(net, prefix, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

/** From where a host can be reached, as far as its name says. */
type Reach = "nowhere" | "machine" | "net" | "everywhere";

/** @param host a name or an IP address, which may be in brackets */
export function reachOf(host: string): Reach {
  const address = host.replace(/^\[|\]$/g, "");
  if (address === "0.0.0.0" || address === "::" || address === "") return "nowhere";
  if (isLoopback(address)) return "machine";
  const family = isIP(address);
  if (family === 0) return "everywhere";
  return PRIVATE.check(address, family === 4 ? "ipv4" : "ipv6") ? "net" : "everywhere";
}

/**
 * `host:port` under which others reach this node: as requested, else `cometbft.external-address`, else where it listens.
 * @param asked `HOST` or `HOST:PORT`; without a port it is that where the node listens
 * @throws UsageError, CommandError where no other node of the network reaches that
 */
export function ownAddress(asked: string | undefined, { cometbft }: Pick<Config, "cometbft">): string {
  const { externalAddress, p2pAddress, localNet } = cometbft;
  const own = asked === undefined ? (addressOf(externalAddress) ?? p2pAddress) : askedAddress(asked, p2pAddress.port);
  const reach = reachOf(own.host);
  if (reach === "everywhere" || (localNet && reach !== "nowhere")) return formatHostPort(own);
  const where = {
    nowhere: "is not the address of a machine",
    machine: "is reachable only from this machine",
    net: "is reachable only from a private network: set cometbft.local-net = true on all its nodes",
  }[reach];
  throw new CommandError(
    `other nodes cannot reach this one: ${formatHostPort(own)} ${where}; give --address HOST, or set cometbft.external-address`,
  );
}

function addressOf(text: string): HostPort | undefined {
  return text === "" ? undefined : hostPort.parse(text);
}

/** @throws UsageError */
function askedAddress(text: string, port: number): HostPort {
  const isBareIpv6 = isIP(text) === 6;
  const address = hostPort.parse(
    isBareIpv6 ? `[${text}]:${port}` : /(^[^:[\]]+|\])$/.test(text) ? `${text}:${port}` : text,
  );
  if (address === undefined || address.port === 0) {
    throw new UsageError(`--address: ${text} is not HOST or HOST:PORT`);
  }
  return address;
}
