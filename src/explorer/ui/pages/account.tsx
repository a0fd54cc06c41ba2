import { useState } from "preact/hooks";
import type { Address } from "../../../primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../primitives/hash.ts";
import type { ProofStep } from "../../verify/account.ts";
import { type CheckedAccount, checkAccount, checkBlock, checkSlot } from "../checked.ts";
import { contractAt } from "../contracts.ts";
import { age, bytesOfHex, count, decimal, ether } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { AddressText, Failure, Fields, HexText, Mark, Panel, Table, When } from "../parts.tsx";
import { type Block, call, type Receipt, type Transaction } from "../rpc.ts";
import { holdingsOf } from "../tokens.ts";
import { Status } from "./block.tsx";
import { ContractPanel } from "./contract.tsx";

async function loadAccount(address: Address): Promise<CheckedAccount> {
  const block = await call<Block>("eth_getBlockByNumber", "latest", false);
  return checkAccount(address, await checkBlock(block));
}

/** An account: what its proof shows, its tokens, its history, and its contract where it has code. */
export function AccountPage({ address }: { readonly address: string }) {
  const account = address as Address;
  const loaded = useLoaded(() => loadAccount(account), [address]);
  return (
    <>
      <h1>{contractAt(address)?.name ?? "Address"}</h1>
      <p class="subject">
        <HexText value={address} isWhole />
      </p>
      <When
        loaded={loaded}
        show={(checked) => (
          <>
            <AccountPanel checked={checked} />
            {checked.code.value !== "0x" && (
              <>
                <ContractPanel address={address} code={checked.code.value} />
                <StoragePanel address={account} checked={checked} />
              </>
            )}
          </>
        )}
      />
      <HoldingsPanel address={account} />
      <HistoryPanel address={address} />
    </>
  );
}

function AccountPanel({ checked }: { checked: CheckedAccount }) {
  const { balance, nonce, code, codeHash, storageRoot, steps, elapsedMs } = checked;
  const { number } = checked.checked.block;
  return (
    <Panel
      title="Account"
      aside={
        <span class="muted">
          after block <a href={`#/block/${Number(number)}`}>{count(number)}</a>
        </span>
      }
    >
      <Fields
        rows={[
          [
            "Balance",
            <span key="" class="fact">
              {ether(balance.value)} <Mark verdict={balance.verdict} what="balance" />
            </span>,
          ],
          [
            "Nonce",
            <span key="" class="fact">
              {count(nonce.value)} <Mark verdict={nonce.verdict} what="nonce" />
            </span>,
          ],
          [
            "Code",
            <span key="" class="fact">
              {code.value === "0x" ? "none" : `${count(bytesOfHex(code.value))} bytes`}{" "}
              <Mark verdict={code.verdict} what="code" />
            </span>,
          ],
          code.value !== "0x" && ["Code hash", <HexText key="" value={codeHash} isWhole />],
          storageRoot !== undefined && ["Storage root", <HexText key="" value={storageRoot} isWhole />],
        ]}
      />
      {steps.length > 0 && (
        <>
          <ProofView label="Proof from the state root to the account" steps={steps} />
          <p class="empty" id="elapsed" data-ms={elapsedMs}>
            Proof of {steps.length} nodes checked in {elapsedMs.toFixed(1)} ms.
          </p>
        </>
      )}
    </Panel>
  );
}

function StoragePanel({ address, checked }: { address: Address; checked: CheckedAccount }) {
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

function HoldingsPanel({ address }: { address: Address }) {
  const loaded = useLoaded(() => holdingsOf(address), [address]);
  return (
    <Panel title="Tokens" aside={<span class="muted">from logs and calls, not proven</span>}>
      <When
        loaded={loaded}
        show={(holdings) => (
          <Table
            label="Tokens"
            head={["Token", "Balance", "Items"]}
            numeric={[1]}
            rows={holdings.map(({ token, symbol, decimals, balance, tokenIds }) => [
              <HexText key="" value={token} to={`/address/${token}`} name={symbol} />,
              balance === undefined ? "–" : decimal(balance, decimals ?? 0),
              tokenIds.join(" "),
            ])}
          />
        )}
      />
    </Panel>
  );
}

type History = {
  readonly txs: readonly Transaction[];
  readonly receipts: readonly (Receipt & { readonly timestamp?: number })[];
  readonly lastPage: boolean;
};

const PAGE_SIZE = 25;

function HistoryPanel({ address }: { address: string }) {
  const [before, setBefore] = useState(0);
  const loaded = useLoaded(
    () => call<History>("ots_searchTransactionsBefore", address, before, PAGE_SIZE),
    [address, before],
  );
  return (
    <Panel title="History" aside={<span class="muted">from the node’s index, not proven</span>}>
      <When
        loaded={loaded}
        show={({ txs, receipts, lastPage }) => (
          <>
            <Table
              label="Transactions of the address"
              head={["Hash", "Block", "Age", "From", "To", "Value", "Status"]}
              numeric={[1, 5]}
              rows={txs.map((tx, i) => [
                <HexText key="hash" value={tx.hash} to={`/tx/${tx.hash}`} />,
                <a key="block" href={`#/block/${Number(tx.blockNumber)}`}>
                  {count(tx.blockNumber ?? "0x0")}
                </a>,
                receipts[i]?.timestamp === undefined ? "–" : age(receipts[i].timestamp),
                <AddressText key="from" value={tx.from} />,
                tx.to === null ? "new contract" : <AddressText key="to" value={tx.to} />,
                ether(tx.value, 6),
                <Status key="status" status={receipts[i]?.status} />,
              ])}
            />
            <div class="inline">
              {before !== 0 && (
                <button type="button" onClick={() => setBefore(0)}>
                  Newest
                </button>
              )}
              {!lastPage && (
                <button type="button" onClick={() => setBefore(Number(txs.at(-1)?.blockNumber ?? "0x0"))}>
                  Older
                </button>
              )}
            </div>
          </>
        )}
      />
    </Panel>
  );
}

/** The way from a root to a value, node by node: what it has to hash to, what it does, and the nibbles it consumes. */
export function ProofView({ steps, label }: { steps: readonly ProofStep[]; label: string }) {
  return (
    <details class="proof">
      <summary>
        {label}: {steps.length} nodes
      </summary>
      <ol>
        {steps.map((step) => (
          <li key={step.hash + step.before}>
            <div class="line">
              <b>{step.kind}</b>
              <span class="path">
                <span class="muted">{step.before}</span>
                <strong>{step.consumed}</strong>
              </span>
              <span class="muted">{bytesOfHex(step.rlp)} bytes</span>
            </div>
            <div class="line">
              keccak256 <HexText value={step.hash} />
              <span class={step.hash === step.expected ? "ok" : "bad"}>
                {step.hash === step.expected ? "as its parent says" : `expected ${step.expected}`}
              </span>
            </div>
            <details>
              <summary>RLP</summary>
              <pre>{step.rlp}</pre>
            </details>
          </li>
        ))}
      </ol>
    </details>
  );
}
