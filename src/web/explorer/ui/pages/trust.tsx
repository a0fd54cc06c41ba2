import { useState } from "preact/hooks";
import { parseHash } from "../../../../base/primitives/hash.ts";
import { type Asked, checkHeader } from "../../verify/header.ts";
import { count, dateTime } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { AddressText, Failure, Fields, HexText, LoadedPanel, Mark, Panel, Table, When } from "../parts.tsx";
import { type Block, call } from "../rpc.ts";
import { TRUST } from "../trust.ts";

/** The meaning of the marks, and the block on which they are based. */
export function TrustPage() {
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [typed, setTyped] = useState("");
  const loaded = useLoaded(() => TRUST.current(), [version]);
  const validators = useLoaded(() => TRUST.validators(), [version]);
  async function trust(ask: () => Promise<Block | null>, asked?: Asked) {
    try {
      const block = await ask();
      if (block === null) throw new Error("The node does not have this block.");
      const verdict = checkHeader(block, asked);
      if (verdict.kind !== "verified") throw new Error(verdict.reason);
      await TRUST.pin({ number: Number(block.number), hash: block.hash });
      setVersion(version + 1);
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  }
  function pinTyped(event: Event) {
    event.preventDefault();
    try {
      const hash = parseHash(typed.trim());
      void trust(() => call<Block | null>("eth_getBlockByHash", hash, false), { hash });
    } catch (failure) {
      setError(failure);
    }
  }
  return (
    <>
      <h1>Trust</h1>
      <Panel title="The trusted block">
        <When
          loaded={loaded}
          show={(current) =>
            current === undefined ? (
              <p class="empty">None yet: this page will trust the first block it checks.</p>
            ) : current.kind === "refused" ? (
              <p class="empty">
                <Mark verdict={current.verdict} what="chain" />{" "}
                {current.verdict.kind === "verified" ? "" : current.verdict.reason}. Nothing of this chain is proven
                until you pin a block of it.
              </p>
            ) : (
              <Fields
                rows={[
                  ["Number", count(current.trust.number)],
                  ["Hash", <HexText key="" value={current.trust.hash} to={`/block/${current.trust.hash}`} isWhole />],
                  ["Trusted since", dateTime(current.trust.since)],
                  ["Because", current.trust.isPinned ? "it was pinned here" : "it was the first one this browser saw"],
                ]}
              />
            )
          }
        />
        <form class="inline" onSubmit={pinTyped}>
          <label>
            Hash of a block that you know by another way
            <input value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </label>
          <button type="submit">Pin</button>
          <button type="button" onClick={() => void trust(() => call<Block>("eth_getBlockByNumber", "latest", false))}>
            Pin the newest block
          </button>
        </form>
        {error !== undefined && <Failure error={error} />}
      </Panel>
      <LoadedPanel
        title="The trusted validators"
        loaded={validators}
        show={(set) =>
          set === undefined ? (
            <p class="empty">
              None yet: this page will trust the validators that signed the first block it checks. A chain with a single
              process has none.
            </p>
          ) : (
            <>
              <Fields
                rows={[
                  ["Chain", set.chainId],
                  ["Signed block", count(set.height - 1)],
                  ["Hash of the set", <HexText key="" value={set.hash} isWhole />],
                ]}
              />
              <Table
                label="Trusted validators"
                head={["Address", "Power"]}
                numeric={[1]}
                rows={Object.entries(set.powers).map(([validator, power]) => [
                  <AddressText key="" value={validator} isWhole />,
                  count(power),
                ])}
              />
            </>
          )
        }
      />
      <Meanings />
    </>
  );
}

function Meanings() {
  return (
    <Panel title="What a mark means">
      <dl class="prose">
        <dt class="ok">✓ proven</dt>
        <dd>
          This page recomputed it: the value from a Merkle proof, the proof's root from a header, the header's hash from
          its fields, and the way from that hash to the trusted block.
        </dd>
        <dt class="bad">✗ false</dt>
        <dd>What the node answers contradicts its own proof, or its chain does not contain the trusted block.</dd>
        <dt class="muted">○ not proven</dt>
        <dd>The node did not give what is needed to check, such as the proof of a state it no longer stores.</dd>
      </dl>
      <p class="empty">
        A chain is followed from the trusted block on by parent hashes and by the hashes of older blocks in its state
        (EIP-2935). That shows that nothing up to the trusted block was rewritten and that later blocks continue it. Who
        decided the later ones is shown by the signatures on the page of a block: validators with more than two thirds
        of the power signed the header that commits to it. A chain that one process decides has no signatures.
      </p>
    </Panel>
  );
}
