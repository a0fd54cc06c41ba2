import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { getLightBlock } from "./get-light-block.ts";
import { getSigner } from "./get-signer.ts";
import { getSigners, getSignersAtHash, getSnapshot, getSnapshotAtHash } from "./get-snapshot.ts";
import { discard, proposals, propose } from "./proposals.ts";
import { status } from "./status.ts";

export const CLIQUE_METHODS: readonly Method<RpcPorts>[] = [
  getSnapshot,
  getSnapshotAtHash,
  getSigners,
  getSignersAtHash,
  getSigner,
  getLightBlock,
  proposals,
  propose,
  discard,
  status,
];
