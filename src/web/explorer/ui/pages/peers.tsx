import { count } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { Fields, LoadedPanel, Table } from "../parts.tsx";
import { call, callIfOpen } from "../rpc.ts";

type Peer = {
  readonly name?: string;
  readonly id?: string;
  readonly network?: { readonly remoteAddress?: string; readonly inbound?: boolean };
};

/** The node and its peers. */
export function PeersPage() {
  const node = useLoaded(
    async () => ({
      version: await callIfOpen<string>("web3_clientVersion"),
      chainId: await call<string>("eth_chainId"),
      peers: await callIfOpen<string>("net_peerCount"),
      listening: await callIfOpen<boolean>("net_listening"),
    }),
    [],
  );
  const peers = useLoaded(() => call<Peer[]>("admin_peers"), []);
  return (
    <>
      <h1>Peers</h1>
      <LoadedPanel
        title="Node"
        loaded={node}
        show={({ version, chainId, peers, listening }) => (
          <Fields
            rows={[
              ["Client", version ?? "not open"],
              ["Chain id", String(Number(chainId))],
              ["Peers", peers === undefined ? "not open" : count(peers)],
              ["Listening for peers", listening === undefined ? "not open" : String(listening)],
            ]}
          />
        )}
      />
      <LoadedPanel
        title="Connections"
        aside={peers.kind === "failed" && <span class="muted">peers are shown where admin_peers needs no token</span>}
        loaded={peers}
        show={(list) => (
          <Table
            label="Peers"
            head={["Name", "Id", "Address", "Direction"]}
            rows={list.map(({ name, id, network }) => [
              name ?? "–",
              <code key="">{id ?? "–"}</code>,
              network?.remoteAddress ?? "–",
              network?.inbound ? "inbound" : "outbound",
            ])}
          />
        )}
      />
    </>
  );
}
