import { count } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { AddressText, Fields, LoadedPanel, Table } from "../parts.tsx";
import { call } from "../rpc.ts";

type Status = {
  readonly inturnPercent: number;
  readonly numBlocks: number;
  readonly sealerActivity: Readonly<Record<string, number>>;
};

/** The validators, their recent proposals, and the votes that this node casts. */
export function ValidatorsPage() {
  const signers = useLoaded(() => call<string[]>("clique_getSigners"), []);
  const status = useLoaded(() => call<Status>("clique_status"), []);
  const proposals = useLoaded(() => call<Record<string, boolean>>("clique_proposals"), []);
  const activity = status.kind === "ready" ? status.value.sealerActivity : {};
  return (
    <>
      <h1>Validators</h1>
      <LoadedPanel
        title="Validators"
        loaded={signers}
        show={(list) => (
          <Table
            label="Validators"
            head={["Address", "Blocks proposed lately"]}
            numeric={[1]}
            rows={list.map((signer) => [<AddressText key="" value={signer} />, count(activity[signer] ?? 0)])}
          />
        )}
      />
      <LoadedPanel
        title="Activity"
        loaded={status}
        show={({ inturnPercent, numBlocks }) => (
          <Fields
            rows={[
              ["Blocks looked at", count(numBlocks)],
              ["Proposed in turn", `${inturnPercent} %`],
            ]}
          />
        )}
      />
      <LoadedPanel
        title="Votes of this node"
        loaded={proposals}
        show={(votes) => (
          <Table
            label="Votes"
            head={["Address", "Vote"]}
            rows={Object.entries(votes).map(([address, isIn]) => [
              <AddressText key="" value={address} isWhole />,
              isIn ? "authorize" : "remove",
            ])}
          />
        )}
      />
    </>
  );
}
