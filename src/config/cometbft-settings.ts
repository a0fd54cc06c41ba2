import { option } from "./option.ts";
import { boolean, hostPort, integer, list, text } from "./value-types.ts";

/** Settings of `consensus.engine = cometbft`. The node writes CometBFT's own configuration from them at each start. */
export const COMETBFT_SETTINGS = {
  binary: option("cometbft.binary", text, "cometbft", {
    description: "The cometbft program: a path, or a name that is looked up on PATH.",
  }),
  moniker: option("cometbft.moniker", text, "evmint", {
    description: "Name of this node among its peers.",
  }),
  p2pAddress: option(
    "cometbft.p2p-address",
    hostPort,
    { host: "0.0.0.0", port: 26656 },
    { description: "Where this node listens for peers." },
  ),
  externalAddress: option("cometbft.external-address", text, "", {
    description: "host:port under which peers reach this node; empty: the address they see.",
  }),
  persistentPeers: option("cometbft.persistent-peers", list, [], {
    description: "Peers to stay connected to, as id@host:port.",
  }),
  trustedPeers: option("cometbft.trusted-peers", list, [], {
    description: "Ids of peers that connect also where there are as many as allowed.",
  }),
  rejectedPeers: option("cometbft.rejected-peers", list, [], {
    description: "Ids of nodes that are not connected to: those removed with admin_removePeer.",
  }),
  localNet: option("cometbft.local-net", boolean, false, {
    description:
      "All nodes are on one machine or private net: repeated and private addresses are accepted.",
  }),
  stateSyncServers: option("cometbft.state-sync-servers", list, [], {
    description:
      "CometBFT's RPC of two nodes or more, each host:port or unix:///path: a home without data/ restores a snapshot in place of fetching all blocks.",
  }),
  trustHeight: option("cometbft.trust-height", integer(0), 0, {
    description: "Height of a block you trust, for state sync; at most a week old.",
  }),
  trustHash: option("cometbft.trust-hash", text, "", {
    description: "CometBFT's hash of that block: `evmintd engine status` of a node prints both.",
  }),
  doubleSignCheckHeight: option("cometbft.double-sign-check-height", integer(0), 0, {
    description:
      "A validator does not start while its own votes are in the last so many blocks; 10 for production.",
  }),
  rollbackBlocksMax: option("cometbft.rollback-blocks", integer(0), 100, {
    description:
      "Blocks that the node removes by itself where CometBFT's store ends before the chain, as after a power loss; they are set aside in a file. With more of them CometBFT stays down until an operator has decided.",
  }),
} as const;
