import { option } from "./option.ts";
import { boolean, byteSize, duration, hostPort, integer, list, unset } from "./value-types.ts";

/** Of the `shh` namespace. */
export const SHH_SETTINGS = {
  persist: option("shh.persist", boolean, true, {
    description: "Store identities and groups, encrypted with the node's key.",
  }),
  address: option("shh.address", unset(hostPort), null, {
    description: "Where this node listens for whisper peers (libp2p over TCP); empty: it does not.",
  }),
  peers: option("shh.peers", list, [], {
    description: "Whisper peers to stay connected to: /ip4/HOST/tcp/PORT/p2p/ID.",
  }),
  // An operator who lets peers reach whisper does so at one port on all validators.
  bootstrap: option("shh.bootstrap", boolean, true, {
    description:
      "Connect to whisper of the chain's peers, the validators among them, at the port of shh.address.",
  }),
  // Each opens a socket and gets every envelope; a message reaches a million nodes in five hops.
  peersMax: option("shh.peers-limit", integer(1), 25, {
    description: "Whisper peers that are connected, in and out.",
  }),
  // Some 40,000 envelopes of 1 KB.
  poolBytesMax: option("shh.pool-size", byteSize, 64 * 2 ** 20, {
    description:
      "Memory of all messages that have not expired; when full, those with the least work leave.",
  }),
  // Each takes part in opening every encrypted message whose topics a filter wants: a fraction of a millisecond.
  identitiesMax: option("shh.identities-limit", integer(1), 1_000, {
    description: "Identities and groups of this node.",
  }),
  // Every message is compared with every filter.
  filtersMax: option("shh.filters-limit", integer(1), 1_000, {
    description: "Message filters of all callers.",
  }),
  // The last one waits for 160 s when all ask for the longest work.
  postsMax: option("shh.posts-limit", integer(1), 16, {
    description: "Posts that wait while the work for another is done.",
  }),
  // Ten thousand messages of 1 KB in two seconds.
  peerBytesPerSecondMax: option("shh.peer-rate-limit", byteSize, 5 * 2 ** 20, {
    description:
      "Bytes a second that one peer may send, over ten seconds; beyond it, it is banned.",
  }),
  banMs: option("shh.ban-time", duration, 600_000, {
    description: "How long a peer that broke the protocol is not connected to.",
  }),
} as const;
