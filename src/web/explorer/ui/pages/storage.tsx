import { useState } from "preact/hooks";
import type { Address } from "../../../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../../base/primitives/hash.ts";
import { type CheckedAccount, checkSlot } from "../checked.ts";
import { useLoaded } from "../hooks.ts";
import { Failure, Fields, HexText, Mark, Panel, When } from "../parts.tsx";
import { ProofView } from "../proof-view.tsx";

/** One slot of a contract's storage with its proof. */
export function StoragePanel({ address, checked }: { address: Address; checked: CheckedAccount }) {
  const [typed, setTyped] = useState("0");
  const [slot, setSlot] = useState<Hash>(hashFromBigint(0n));
  const [error, setError] = useState<unknown>();
  const loaded = useLoaded(() => checkSlot(address, slot, checked), [address, slot]);
  function read(event: Event) {
    event.preventDefault();
    try {
      setSlot(hashFromBigint(BigInt.asUintN(256, BigInt(typed.trim()))));
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  }
  if (checked.storageRoot === undefined) return null;
  return (
    <Panel title="Storage">
      <form class="inline" onSubmit={read}>
        <label>
          Slot
          <input value={typed} inputMode="text" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </label>
        <button type="submit">Read</button>
      </form>
      {error !== undefined && <Failure error={error} />}
      <When
        loaded={loaded}
        show={({ value, verdict, steps }) => (
          <>
            <Fields
              rows={[
                ["Slot", <HexText key="" value={slot} isWhole />],
                [
                  "Value",
                  <span key="" class="fact">
                    <code>{value}</code> <Mark verdict={verdict} what="storage" />
                  </span>,
                ],
              ]}
            />
            {steps.length > 0 && <ProofView label="Proof from the storage root to the slot" steps={steps} />}
          </>
        )}
      />
    </Panel>
  );
}
